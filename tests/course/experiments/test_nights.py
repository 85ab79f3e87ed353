"""The stored runs on photographs: their logits give the numbers of their rows."""

import pytest

from calibkit import metrics
from calibkit.course.experiments import nights


def test_the_logits_of_every_run_agree_with_its_row():
    for one in nights.table().itertuples():
        kept = nights.logits(one.loss, one.seed, one.decay)
        for part, column in (("cal", "calibration"), ("test", "test")):
            probs, labels = kept[part].softmax(dim=1), kept[f"{part}_labels"]
            right, nll = getattr(one, f"{column}_accuracy"), getattr(one, f"{column}_nll")
            assert metrics.accuracy(probs, labels) == pytest.approx(right, abs=1e-3)
            assert metrics.nll(probs, labels) == pytest.approx(nll, abs=2e-3)


def test_a_run_that_is_not_stored_is_refused():
    with pytest.raises(ValueError, match=r"must be those of a stored run, got focal_gamma_9-"):
        nights.logits("focal, gamma 9", 0)
