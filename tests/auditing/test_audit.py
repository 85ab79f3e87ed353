"""The audit's numbers against independent packages, the loops and the package's own functions."""

import numpy as np
import pandas as pd
import pytest
import torch

import calibkit
from calibkit import metrics
from calibkit.auditing.scores import scores_of


def drawn(n, classes, scale=2.0, truth=1.0, seed=0):
    """Logits, and labels drawn from their softmax at another scale."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(n, classes, generator=generator, dtype=torch.float64) * scale
    labels = torch.multinomial((z * truth).softmax(1), 1, generator=generator)[:, 0]
    return z, labels


def values(found):
    return {name: estimate.value for name, estimate in found.measures.items()}


@pytest.mark.parametrize("classes", [2, 30])
def test_every_number_is_the_packages_own(classes):
    z, labels = drawn(900, classes, truth=0.7)
    probs = z.softmax(1)
    found = values(calibkit.audit(z, labels, bins=12))
    assert found["confidence"] == pytest.approx(float(probs.amax(1).mean()))
    for name in ("ece", "ada_ece", "debiased_ece", "mce", "overconfidence_error", "classwise_ece"):
        own = getattr(metrics, name)(probs, labels, bins=12)
        assert found[name] == pytest.approx(own, abs=1e-12), name
    for name in ("smooth_ece", "nll", "brier", "accuracy", "aurc"):
        own = getattr(metrics, name)(probs, labels)
        assert found[name] == pytest.approx(own, abs=1e-12), name


def test_calibration_data_give_the_temperature():
    z, labels = drawn(2000, 4, truth=0.5)
    found = calibkit.audit(z[:1000], labels[:1000], calibration=(z[1000:], labels[1000:]))
    own = calibkit.recalibration.TemperatureScaler().fit(z[1000:], labels[1000:]).temperature
    assert found.cooling.fitted == (own,)
    cooled = (z[:1000] / own).softmax(1)
    assert found.cooled["ece"].value == pytest.approx(metrics.ece(cooled, labels[:1000]))
    own = calibkit.recalibration.temperature_interval(z[1000:], labels[1000:], level=0.95)
    assert (found.cooling.low, found.cooling.high) == pytest.approx(own, rel=1e-3)
    assert not found.cooling.crossed


# --- whatever one has ---


@pytest.mark.parametrize(("convert", "near", "own"), [
    (lambda z: z.numpy(), 1e-12, lambda y: y.numpy()),
    (lambda z: z.half(), 2e-3, lambda y: pd.Series(y.numpy()).astype(float)),
    (lambda z: z.bfloat16(), 2e-2, lambda y: y.tolist()),
    (lambda z: z.numpy().astype(np.float16), 2e-3, lambda y: y[:, None]),
    (lambda z: z.tolist(), 1e-12, lambda y: y.int()),
    (lambda z: pd.DataFrame(z.numpy()), 1e-12, lambda y: y),
    (lambda z: z.requires_grad_(), 1e-12, lambda y: y),
])  # fmt: skip
def test_scores_are_taken_as_they_are(convert, near, own):
    z, labels = drawn(600, 4, truth=0.6)
    found = calibkit.audit(convert(z), own(labels), resamples=20).measures["nll"]
    assert found.value == pytest.approx(metrics.nll(z.softmax(1), labels), abs=near)


def test_words_are_labels_where_columns_have_names():
    z, labels = drawn(400, 3)
    names = ["cat", "dog", "eel"]
    words = pd.Series([names[k] for k in labels])
    found = calibkit.audit(pd.DataFrame(z.numpy(), columns=names), words)
    assert values(found) == values(calibkit.audit(z, labels))
    with pytest.raises(ValueError, match=r"labels name \['fox'\]"):
        calibkit.audit(pd.DataFrame(z.numpy(), columns=names), words.replace("cat", "fox"))


def test_one_column_is_the_score_of_class_1():
    z, labels = drawn(500, 2)
    probs = z.softmax(1)
    both = values(calibkit.audit(probs=probs, labels=labels))
    assert values(calibkit.audit(probs=probs[:, 1], labels=labels)) == pytest.approx(both)
    odds = z[:, 1] - z[:, 0]
    assert values(calibkit.audit(odds, labels)) == pytest.approx(both)
    for given, kind in ((100 * probs, "percent"), (probs.log(), "logprobs")):
        assert values(calibkit.audit(given[:, 1], labels, kind=kind)) == pytest.approx(both)
    certain, rounded = (probs[:, 1].index_fill(0, torch.tensor([0]), top) for top in (1, 1 + 1e-7))
    assert values(calibkit.audit(probs=rounded, labels=labels)) == values(
        calibkit.audit(probs=certain, labels=labels)
    )
    named = calibkit.audit(pd.DataFrame({"risk": probs[:, 1].numpy()}), labels, kind="auto")
    assert named.class_names == ("0", "1")


def test_a_map_on_disk_is_read_in_blocks(tmp_path, monkeypatch):
    z, labels = drawn(3000, 20)
    np.save(tmp_path / "z.npy", z.numpy())
    mapped = np.load(tmp_path / "z.npy", mmap_mode="r")
    monkeypatch.setattr("calibkit.auditing.scores.BLOCK", 4096)
    assert values(calibkit.audit(mapped, labels)) == pytest.approx(
        values(calibkit.audit(z, labels))
    )


# --- what should make a reader doubt ---


def warned(found, words):
    return any(words in text for text in found.warnings)


def test_probabilities_passed_as_logits_are_noticed_and_taken_as_such():
    z, labels = drawn(2000, 4)
    probs = z.softmax(1)
    found = calibkit.audit(probs, labels)
    assert warned(found, "probabilities were passed as logits")
    assert values(found) == values(calibkit.audit(probs=probs, labels=labels))
    assert not warned(calibkit.audit(z, labels), "passed as logits")
    assert warned(calibkit.audit(z.sigmoid(), labels), "Sigmoids of one label each")


def test_rounded_rows_and_per_cent_are_divided_by_their_sums():
    z, labels = drawn(2000, 4)
    probs = z.softmax(1)
    rounded = calibkit.audit(probs=probs * torch.linspace(0.97, 1.03, 2000)[:, None], labels=labels)
    assert warned(rounded, "rows do not sum to 1")
    percent = calibkit.audit(probs=100 * probs, labels=labels)
    assert warned(percent, "per cent")
    for found, near in ((rounded, 1e-2), (percent, 2e-3)):
        assert values(found)["ece"] == pytest.approx(metrics.ece(probs, labels), abs=near)


def test_zeros_of_rounding_do_not_run_away_with_the_temperature():
    z, labels = drawn(2500, 6, scale=4.0, truth=0.5)
    whole = calibkit.audit(z, labels)
    probs = z.softmax(1)
    for rounded in (probs.mul(1e4).round() / 1e4, (100 * probs).mul(100).round() / 100):
        found = calibkit.audit(probs=rounded, labels=labels)
        assert warned(found, "were given probability 0")
        assert found.cooling.value == pytest.approx(whole.cooling.value, rel=0.1)
        assert found.cooled["ece"].value < 0.03
        assert "The Brier score gains clearly" in found.html()


@pytest.mark.parametrize(("given", "kind", "floor"), [
    ([[0.9, 0.1, 0.0], [0.5, 0.25, 0.25]], "auto", 0.05),
    ([[90.0, 10.0, 0.0], [50.0, 25.0, 25.0]], "auto", 0.05),
    ([[0.902, 0.1, 0.0], [0.5, 0.25, 0.25]], "auto", 0.05),
    ([[90.0, 10.0, 0.0], [50.0, 25.0, 25.0]], "percent", 0.05),
    ([0.75, 0.9, 1.0], "confidence", 0.05),
    ([[0.9, 0.1], [0.5, 0.5]], "auto", 0.0),
])  # fmt: skip
def test_a_0_is_taken_for_half_the_smallest_probability(given, kind, floor):
    assert scores_of(given, kind)[0].floor == pytest.approx(floor)


def test_per_cent_logarithms_and_confidences_by_their_kind():
    z, labels = drawn(2000, 4)
    probs = z.softmax(1)
    whole = values(calibkit.audit(probs=probs, labels=labels))
    for given, kind in ((100 * probs, "percent"), (probs.log(), "logprobs")):
        assert values(calibkit.audit(given, labels, kind=kind)) == pytest.approx(whole, abs=1e-9)
    sure, right = probs.max(1).values, (probs.argmax(1) == labels).long()
    found = values(calibkit.audit(sure, right, kind="confidence"))
    assert sure.min() < 0.5
    assert found["ece"] == pytest.approx(metrics.ece_of(sure, right.bool()), abs=1e-12)
    assert found["accuracy"] == pytest.approx(float(right.double().mean()))
    with pytest.raises(ValueError, match="confidence must be one column"):
        calibkit.audit(probs, labels, kind="confidence")
    with pytest.raises(ValueError, match="kind='percent' or kind='logits'"):
        calibkit.audit(100 * sure, right, kind="auto")


def test_few_samples_are_noticed():
    z, labels = drawn(300, 4)
    assert warned(calibkit.audit(z, labels), "300 samples are few")
    assert warned(calibkit.audit(z, labels), "too few samples a bin")
    z, labels = drawn(6_000, 2, scale=1.0)
    assert calibkit.audit(z, labels, bins=5).warnings == ()


def test_a_temperature_fitted_on_the_test_is_noticed():
    z, labels = drawn(3000, 4, truth=0.5)
    order = np.random.default_rng(0).permutation(3000)
    own = [
        calibkit.recalibration.TemperatureScaler().fit(z[half], labels[half]).temperature
        for half in (torch.from_numpy(np.sort(order[::2])), torch.from_numpy(np.sort(order[1::2])))
    ]
    middle = (own[0] * own[1]) ** 0.5
    assert warned(calibkit.audit(z / middle, labels), "calibrated on this very test set")
    assert not warned(calibkit.audit(z / 1.9, labels), "calibrated on this very test set")


def test_rows_in_both_sets_are_noticed():
    z, labels = drawn(2000, 4)
    cal = (z[1000:].float(), labels[1000:])
    clean = calibkit.audit(z[:1000], labels[:1000], calibration=cal)
    some = calibkit.audit(z[:1100], labels[:1100], calibration=cal)
    whole = calibkit.audit(z[1000:], labels[1000:], calibration=cal)
    assert not warned(clean, "stand in the calibration data")
    assert warned(some, "100 of 1,100 test rows stand in the calibration data")
    assert warned(whole, "calibrated on the test: every row")


def test_labels_of_probability_0_and_missing_classes_are_noticed():
    probs = torch.tensor([[0.5, 0.5, *[0.0] * 10]] * 999 + [[1.0, *[0.0] * 11]])
    found = calibkit.audit(probs=probs, labels=[0] * 999 + [1])
    assert warned(found, "10 of 12 classes have no sample (number 2, 3, 4, 5, 6, 7, 8, 9 ...)")
    assert warned(found, "1 labels were given probability 0")
    assert warned(found, "class number 0 is predicted for every sample")
    assert values(found)["nll"] == float("inf")
    assert "∞" in found.html()


# --- what is refused ---

Z, Y = drawn(60, 3)


@pytest.mark.parametrize(("arguments", "options", "words"), [
    ((Z, Y[:-1]), {}, "labels must have one entry per row, 60, got 59"),
    ((Z.T, Y), {}, "look transposed"),
    ((Z, Y - 100), {}, "labels must lie in"),
    ((Z, Y + 0.5), {}, "whole numbers"),
    ((Z.where(Z < 1, torch.nan), Y), {}, "NaN or infinity in row"),
    ((Z.reshape(3, 20, 3), Y), {}, "matrix"),
    ((Z.long(), Y), {}, "floating point"),
    ((None, Y), {"probs": Z}, "rows that sum to 1"),
    ((None, Y), {"probs": Z.sigmoid()}, "rows that sum to 1"),
    ((Z, Y), {"groups": [1, 2]}, "groups must have one entry per row"),
    (drawn(101, 3), {"groups": range(101)}, "groups must be at most 100"),
    ((Z, Y), {"other": Z[:9]}, "other must have the shape"),
    ((Z, Y), {"calibration": Z}, "calibration must be a pair"),
    ((Z, Y), {"calibration": (Z[:, :2], Y % 2)}, "calibration must hold logits of 3"),
    ((Z, Y), {"class_names": ["a"]}, "class_names must name 3"),
    ((Z, ["a"] * 60), {}, "the classes have no names"),
    ((Z, Y), {"probs": Z}, "either logits or probs"),
    ((Z, None), {}, "labels are missing"),
    ((None, Y), {"probs": Z.softmax(1), "kind": "percent"}, "kind says what `logits` holds"),
    ((Z[:3], Y[:3]), {}, "at least 4 rows"),
    ((Z, Y), {"weights": [1, 1, 1] + [0] * 57}, "at least 4 rows that weigh, got 3"),
    ((Z, Y), {"clusters": [0, 1] * 30}, "at least 4 clusters that weigh, got 2"),
])  # fmt: skip
def test_wrong_input_is_refused_in_words(arguments, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        calibkit.audit(*arguments, **options)
