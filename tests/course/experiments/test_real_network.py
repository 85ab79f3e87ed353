"""The published network of lesson 00: what its file holds."""

from calibkit.course.experiments import real_network


def test_it_is_90_per_cent_sure_and_right_on_75():
    temperatures, confidence, right = real_network.answers()
    assert confidence.shape == (21, 10_000) == (len(temperatures), len(right))
    published = confidence[temperatures.tolist().index(1.0)]
    assert (round(published.mean(), 3), round(right.mean(), 3)) == (0.896, 0.754)
    sure = published > 0.99
    assert (round(sure.mean(), 2), round(right[sure].mean(), 2)) == (0.54, 0.95)
