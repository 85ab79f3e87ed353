"""What the audit advises: never what harms, and in the form of what it was given."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import ndtri

import calibkit
from calibkit import metrics
from calibkit.auditing.advice import Form, Rise, advise, concerns
from calibkit.auditing.cross_fitted import Cooling
from calibkit.auditing.measures import Estimate
from calibkit.auditing.scores import scores_of
from tests.auditing.test_audit import drawn, warned


def run(line, **given):
    """What a line of advice makes of scores."""
    names = {"torch": torch, **given}
    exec(line, names)
    return names[line.split()[0]]


def apart(z, labels):
    """The second half as calibration data of the first."""
    half = len(z) // 2
    return z[:half], labels[:half], (z[half:], labels[half:])


FORMS = {  # of scores, and the kind that the audit is told
    "logits": (lambda z: z, "logits"),
    "probs": (lambda z: z.softmax(1), "auto"),
    "rounded": (lambda z: z.softmax(1).mul(1000).round() / 1000, "auto"),
    "percents": (lambda z: 100 * z.softmax(1), "percent"),
    "logprobs": (lambda z: z.log_softmax(1), "logprobs"),
    "logprob": (lambda z: z.log_softmax(1)[:, 1], "logprobs"),
    "logit": (lambda z: z[:, 1:] - z[:, :1], "logits"),
    "prob": (lambda z: z.softmax(1)[:, 1], "auto"),
    "percent": (lambda z: 100 * z.softmax(1)[:, 1], "percent"),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_line_gives_the_audits_own_cooled_numbers(form):
    write, kind = FORMS[form]
    lonely = form in ("logit", "logprob", "prob", "percent")
    z, labels, (cal, of_cal) = apart(*drawn(3000, 2 if lonely else 4, truth=0.5))
    found = calibkit.audit(write(z), labels, kind=kind, calibration=(write(cal), of_cal))
    name = {"rounded": "probs", "percents": "probs", "percent": "prob"}.get(form, form)
    cooled = run(found.advice.line, **{name: write(z)})
    cooled = torch.stack([1 - cooled.ravel(), cooled.ravel()], 1) if lonely else cooled
    assert found.advice.line.startswith("prob = torch.sigmoid(" if lonely else "probs = torch.soft")
    assert metrics.nll(cooled, labels) == pytest.approx(found.cooled["nll"].value, abs=1e-4)
    assert metrics.ece(cooled, labels) == pytest.approx(found.cooled["ece"].value, abs=1e-3)


def a_few_very_sure_mistakes(n=4000, seed=0, one_in=60):
    """A calibrated model of 70 % but for some rows that say 1 - 8e-7 and are wrong."""
    random = np.random.default_rng(seed)
    z = np.zeros((n, 2))
    z[:, 1] = np.log(0.7 / 0.3)
    z[: n // one_in, 1] = 14.0
    labels = (random.random(n) < 0.7).astype(int)
    labels[: n // one_in] = 0
    order = random.permutation(n)
    return torch.from_numpy(z[order]), labels[order]


def test_a_likelihood_that_gains_while_the_ece_loses_is_a_disagreement():
    z, labels = a_few_very_sure_mistakes()
    found = calibkit.audit(z, labels)
    assert found.gain["nll"].high < 0
    assert found.gain["ece"].value > 0.05
    assert found.gain["brier"].low > 0
    assert found.advice.verdict == "disagreement"
    assert found.advice.line == ""
    for text in (str(found), found.html()):
        assert "The measures disagree" in text
        assert "use it" not in text.replace("do not use it", "")


def test_a_temperature_that_helps_is_recommended_and_one_that_does_nothing_is_not():
    z, labels = drawn(4000, 4, truth=0.5)
    sharp = calibkit.audit(z, labels)
    assert sharp.advice.verdict == "use"
    assert "the model too sure" in sharp.advice.means
    honest = calibkit.audit(z * 0.5, labels)
    assert honest.advice.verdict == "no need"
    assert "the model too sure" not in honest.html()


def test_groups_and_classes_that_the_temperature_leaves_further_off_are_named():
    z, labels = drawn(8000, 5)
    group = np.where(np.arange(8000) % 4 == 0, "shy", "sure")
    by_group, by_class = z * 1.7, z * 1.7
    by_group[group == "shy"] = z[group == "shy"] / 1.1
    by_class[z.argmax(1) == 2] = z[z.argmax(1) == 2] / 1.1
    found = calibkit.audit(by_group, labels, groups=group)
    assert found.advice.verdict == "use"
    left = found.groups.set_index("name")["gap_left"]["shy"]
    assert left < found.groups.set_index("name")["gap"]["shy"] < 0
    line = f"not for all: further off with it are groups shy ({100 * left:+.1f} points)"
    assert found.advice.words.endswith(f"use it on average, {line}")
    assert line in str(found)
    group[::8] = "coy"
    by_group[::8] = z[::8] / 1.5
    found = calibkit.audit(by_group, labels, groups=group)
    assert "further off with it are groups coy (-" in found.advice.words  # the furthest first
    assert "), shy (-" in found.advice.words
    found = calibkit.audit(by_class, labels, groups=group)
    assert "not for all: further off with it are predicted classes 2 (-" in found.advice.words
    assert "groups" not in found.advice.words
    assert "not for all: further off with it are predicted classes 2 (-" in found.html()


def test_a_group_that_is_off_but_less_is_not_named():
    z, labels = drawn(8000, 5)
    most = np.arange(8000) % 4 != 0
    z *= 1.5
    z[most] *= 1.4
    found = calibkit.audit(z, labels, groups=most)
    gaps = found.groups[["gap", "gap_left"]].abs().to_numpy()
    assert (gaps[:, 0] > gaps[:, 1]).all()
    assert found.advice.words.endswith("clearly: use it")


def test_nothing_is_advised_that_raises_the_ece_by_a_point():
    flat = {name: Estimate(0.0, -1.0, 1.0) for name in ("nll", "brier")}
    gains = flat | {"nll": Estimate(-0.05, -0.08, -0.02)}
    cooling = Cooling(torch.ones(2), (1.5,), 1.2, 1.8, False, ())
    scores, _ = scores_of([[2.0, 0.0], [0.0, 1.0]], "logits")
    for rise, verdict in ((0.0, "use"), (0.004, "use"), (0.012, "disagreement")):
        rises = [Rise("the ECE", -0.02, -1.0), Rise("the ECE of the event", rise, -1.0)]
        advice = advise(cooling, gains, rises, Estimate(0.1, 0.05, 0.2), scores, Form())
        assert advice.verdict == verdict
        assert bool(advice.line) == (verdict == "use")
        better = "The likelihood gains clearly"
        grows = f"the ECE of the event rises by {100 * rise:.1f} points"
        assert (
            advice.words
            == {
                0.0: f"{better}: use it",
                0.004: f"{better}, though {grows}: use it",
                0.012: f"{better}, but {grows}, which may be luck or not: none is advised",
            }[rise]
        )


@pytest.mark.parametrize(
    ("low", "high", "holds"),
    [
        (0.955, 1.032, True),
        (1, 1.032, True),
        (0.955, 1, True),
        (1.001, 1.032, False),
        (0.9, 0.999, False),
    ],
)
def test_a_temperature_whose_interval_holds_1_is_not_advised(low, high, holds):
    gains = {"nll": Estimate(-2e-4, -3e-4, -1e-4), "brier": Estimate(0.0, -1.0, 1.0)}
    if holds:  # nor is a loss that is clear and tiny a reason to suspect the data
        gains["brier"] = Estimate(2e-4, 1e-4, 3e-4)
    cooling = Cooling(torch.ones(2), (1.01,), low, high, True, ())
    scores, _ = scores_of([[2.0, 0.0], [0.0, 1.0]], "logits")
    rises = [Rise("the ECE", -0.001, -1.0)]
    advice = advise(cooling, gains, rises, Estimate(0.1, 0.05, 0.2), scores, Form())
    assert (advice.verdict, bool(advice.line)) == ("no need" if holds else "use", not holds)
    assert (f"Its interval, {low:.3f} to {high:.3f}, holds 1" in advice.words) == holds


def test_a_bin_of_thirty_is_not_thin():
    sure = np.repeat([0.55, 0.65, 0.75, 0.95], [1, 29, 30, 1000])
    found = calibkit.audit(probs=np.stack([sure, 1 - sure], 1), labels=np.arange(1060) % 2)
    assert warned(found, "too few samples a bin: 2 of 4 filled bins hold fewer than 30")


def test_a_likelihood_that_loses_is_a_harm():
    loss = {name: Estimate(0.02, 0.01, 0.03) for name in ("nll", "brier")}
    cooling = Cooling(torch.ones(2), (1.5,), 1.2, 1.8, False, ())
    scores, _ = scores_of([[2.0, 0.0], [0.0, 1.0]], "logits")
    rises = [Rise("the ECE", 0.02, 0.01)]
    advice = advise(cooling, loss, rises, Estimate(0.1, 0.05, 0.2), scores, Form())
    assert (advice.verdict, advice.line) == ("harm", "")
    assert advice.means == "above 1 the logits were too large, the model too sure"
    shy = advise(
        replace(cooling, fitted=(0.5,)), loss, rises, Estimate(-0.1, -0.2, -0.05), scores, Form()
    )
    assert shy.means == "below 1 the logits were too small, the model not sure enough"
    unclear = advise(cooling, loss, rises, Estimate(0.001, -0.01, 0.012), scores, Form())
    assert "the signed gap does not say that the model is too sure" in unclear.means
    lose = "The likelihood, the Brier score and the ECE (by 2.0 points) lose clearly"
    assert advice.words == f"{lose}: do not use it, and look at where the data come from"


def test_too_sure_is_said_only_where_the_gap_says_so():
    z, labels = a_few_very_sure_mistakes(one_in=100)
    shy = z.clone()
    shy[shy[:, 1] < 5, 1] = np.log(0.66 / 0.34)  # the others are not sure enough: no gap is left
    found = calibkit.audit(shy, labels)
    assert found.cooling.value > 1
    assert found.measures["gap"].value < 0
    assert "the model too sure" not in found.html()
    assert "the signed gap does not say" in found.advice.means


@pytest.mark.parametrize("separable", [False, True])
def test_where_no_temperature_fits_that_is_said_and_nothing_is_suspected(separable):
    z, labels = drawn(2000, 4)
    if separable:
        labels = z.argmax(1)
    else:
        labels = torch.randint(0, 4, (2000,), generator=torch.Generator().manual_seed(1))
    found = calibkit.audit(z, labels)
    assert found.advice.verdict == "none fits"
    assert warned(found, "no temperature fits")
    assert not warned(found, "calibrated on this very test set")
    assert np.isnan(found.cooling.value)
    page = found.html()
    assert "T = <strong>1000" not in page
    assert "1000.000" not in page
    assert (
        "every label has the highest" if separable else "do not clearly favour the labels"
    ) in page
    assert torch.equal(found.cooling.of_row, torch.ones(2000).double())


def test_a_temperature_is_suspected_within_a_hundredth_of_its_error():
    rows, error = calibkit.audit(*drawn(60, 2)).rows, 0.05
    for off, suspected in ((0.009, True), (0.011, False), (-0.009, True), (-0.011, False)):
        low, value, high = np.exp(error * (off + np.array([-1, 0, 1]) * ndtri(0.95)))
        cooling = Cooling(torch.ones(60), (value,), low, high, True, ())
        said = " ".join(concerns(rows, cooling, bins=15, level=0.9))
        assert ("calibrated on this very test set" in said) == suspected, off
