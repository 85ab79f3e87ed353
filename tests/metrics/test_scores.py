import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, top_k_accuracy_score

from calibkit import metrics
from tests.metrics import reference

CASES = reference.cases()


@pytest.mark.parametrize("name", CASES)
def test_accuracy_against_a_loop(name):
    probs, labels = CASES[name]
    _, hits = reference.top_loop(probs, labels)
    assert metrics.accuracy(probs, labels) == np.mean(hits)
    assert metrics.top_k_accuracy(probs, labels, k=1) == np.mean(hits)
    assert metrics.top_k_accuracy(probs, labels, k=probs.shape[1]) == 1


def test_top_k_agrees_with_scikit_learn():
    probs, labels = (x.numpy() for x in CASES["many"])
    for k in (2, 5, 59):
        expected = top_k_accuracy_score(labels, probs, k=k, labels=np.arange(60))
        assert metrics.top_k_accuracy(probs, labels, k=k) == expected


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.6, 0.99, 1.0])
def test_confident_share_against_a_loop(name, threshold):
    probs, labels = CASES[name]
    confidence, hits = reference.top_loop(probs, labels)
    sure = [h for c, h in zip(confidence, hits, strict=True) if c > threshold]
    share, accuracy = metrics.confident_share(probs, labels, threshold=threshold)
    assert share == len(sure) / len(hits)
    assert accuracy == (np.mean(sure) if sure else pytest.approx(math.nan, nan_ok=True))


@pytest.mark.parametrize("name", CASES)
def test_entropy_is_the_sum_of_its_terms(name):
    exact = CASES[name][0].double().numpy()
    terms = -exact * np.log(np.where(exact > 0, exact, 1))
    np.testing.assert_allclose(metrics.entropy(CASES[name][0]), terms.sum(1), atol=1e-12)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=20),
    st.lists(st.integers(-3, 3), min_size=1, max_size=20),
)
def test_auroc_agrees_with_scikit_learn(inside, outside):
    inside, outside = np.array(inside, dtype=float), np.array(outside, dtype=float)
    truth = np.r_[np.ones(len(inside)), np.zeros(len(outside))]
    found = metrics.auroc(inside, outside)
    assert found == pytest.approx(roc_auc_score(truth, np.r_[inside, outside]), abs=1e-12)
