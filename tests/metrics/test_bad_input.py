"""Every public function refuses bad input with an error that names the argument."""

import inspect

import pytest
import torch

from calibkit import metrics
from calibkit.metrics import conventions, plane  # noqa: F401
from tests import refusals

PROBS = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]])
LABELS = torch.tensor([0, 2, 1])
SURE, HITS = torch.tensor([0.9, 0.6, 1.0]), torch.tensor([True, False, True])
TWO, COSTS = torch.tensor([[0.7, 0.3], [0.2, 0.8]]), metrics.alarm_costs(5)
MAPS = 2 * torch.randn(3, 4, 6, 5, generator=torch.Generator().manual_seed(0))
PIXELS = torch.zeros(3, 6, 5, dtype=torch.long)
NAN = float("nan")


def changed(value, row=1, column=2):
    out = PROBS.clone()
    out[row, column] = value
    return out


def classwise_bootstrap(probs, labels, **options):
    return metrics.bootstrap_interval(probs, labels, metric="classwise_ece", resamples=2, **options)


def taking(*names):
    found = [getattr(metrics, name) for name in metrics.__all__]
    return [f for f in found if list(inspect.signature(f).parameters)[: len(names)] == [*names]]


SCORED = [*taking("probs", "labels"), classwise_bootstrap]
OF_HITS = [*taking("confidence", "correct"), metrics.reliability_of]
OF_HITS.remove(metrics.TopLabel)


def test_all_functions_are_in_the_tables():
    others = {"auroc", "entropy", "true_calibration_error", "wilson_interval", "fpr_at_tpr"}
    others |= {"paired_interval", "paired_interval_of", "pixels", "action_cost", "alarm_costs"}
    others |= {"cheapest_action", "decision_cost", "net_benefit", "regret", "BrierParts"}
    others |= {"CalibrationTest", "Corp", "Reliability", "Tally", "TopLabel"}
    named = {f.__name__ for f in (*SCORED, *OF_HITS)}
    assert named | others == {*metrics.__all__, "classwise_bootstrap"}


@refusals.each("""
    f(changed(NAN), LABELS) -> ValueError: probs must be finite
    f(changed(-0.1), LABELS) -> ValueError: probs must lie in [0, 1]
    f(torch.tensor([[2.0, -1.0, 0.5]] * 3), LABELS) -> ValueError: ...softmax
    f(PROBS * 0.9, LABELS) -> ValueError: probs must have rows that sum to 1
    f(PROBS[0], LABELS) -> ValueError: probs must have 2 dimension
    f(torch.eye(3).long(), LABELS) -> TypeError: probs must be floating point
    f(None, LABELS) -> TypeError: probs must be a tensor or array
    f(PROBS, LABELS.float()) -> TypeError: labels must be integers
    f(PROBS, torch.tensor([0.0, NAN, 1.0])) -> ValueError: ...1 of 3 are missing
    f(PROBS, LABELS[:2]) -> ValueError: labels must have one entry per row
    f(PROBS, torch.tensor([0, 3, 1])) -> ValueError: labels must lie in [0, 3)
    f(PROBS, None) -> TypeError: labels must be a tensor or array
    f(PROBS.to("meta"), LABELS) -> ValueError: labels is on cpu but the predictions are on meta
""")
def test_rows_and_labels(call, refused):
    for function in SCORED:
        refusals.check(call, refused, {**globals(), "f": function})


@refusals.each("""
    f(torch.tensor([0.9, NAN, 1.0]), HITS) -> ValueError: confidence must be finite
    f(torch.tensor([50.0, 90.0, 1.0]), HITS) -> ValueError: ...write 0.9 for 90 %
    f(PROBS, HITS) -> ValueError: confidence must have 1 dimension
    f(torch.tensor([1, 0, 1]), HITS) -> TypeError: confidence must be floating
    f(SURE, torch.tensor([0.0, 1.0, 1.0])) -> TypeError: correct must be integers
    f(SURE, torch.tensor([0, 2, 1])) -> ValueError: correct must lie in [0, 2)
    f(SURE, HITS[:2]) -> ValueError: correct must have one entry per row
    f(SURE, HITS.to("meta")) -> ValueError: correct is on meta
""")
def test_confidences_and_hits(call, refused):
    for function in OF_HITS:
        refusals.check(call, refused, {**globals(), "f": function})


@pytest.mark.parametrize("function", SCORED, ids=lambda f: f.__name__)
def test_bins(function):
    if "bins" in inspect.signature(function).parameters:
        for bins, kind in ((0, ValueError), (-3, ValueError), (1.5, TypeError), (True, TypeError)):
            with pytest.raises(kind, match=r"^bins must"):
                function(PROBS, LABELS, bins=bins)


test_options_and_single_functions = refusals.table("""
    metrics.ece(PROBS, LABELS, norm="L1") -> ValueError: norm must be one of 'l1',
    metrics.ece(PROBS, LABELS, binning="L1") -> ValueError: binning must be one of
    metrics.mce(PROBS, LABELS, closed="L1") -> ValueError: closed must be one of
    metrics.debiased_ece(PROBS, LABELS, binning="L1") -> ValueError: binning must be one of
    metrics.reliability(PROBS, LABELS).interval(95) -> ValueError: level must lie in
    metrics.reliability(PROBS, LABELS).error("L1") -> ValueError: norm must be one of
    metrics.reliability_of(SURE, HITS, binning="m") -> ValueError: binning must
    metrics.confident_share(PROBS, LABELS, threshold=99) -> ValueError: threshold must
    metrics.top_k_accuracy(PROBS, LABELS, k=4) -> ValueError: k must be in [1, 3]
    metrics.ece_by_group(PROBS, LABELS, LABELS - 1) -> ValueError: groups must lie in
    metrics.ece_by_group(PROBS, LABELS, LABELS[:-1]) -> ValueError: groups must
    metrics.entropy(PROBS * 0.9) -> ValueError: probs must have rows that sum to 1
    metrics.true_calibration_error(PROBS, changed(NAN)) -> ValueError: posterior must be finite
    metrics.true_calibration_error(PROBS, PROBS[:2]) -> ValueError: posterior must have the shape
    metrics.true_calibration_error(PROBS, PROBS.to("meta")) -> ValueError: posterior is on meta
    metrics.true_calibration_error(PROBS, PROBS, binning="equal") -> ValueError: binning must
    metrics.wilson_interval([1.0, NAN], [2, 2]) -> ValueError: hits must be finite
    metrics.wilson_interval([1.0], [NAN]) -> ValueError: counts must be finite
    metrics.wilson_interval([1, 3], [2, 2]) -> ValueError: ...3 hits of 2
    metrics.wilson_interval([-1], [2]) -> ValueError: ...-1 hits of 2
    metrics.wilson_interval([1], [2, 2]) -> ValueError: ...shape of hits
    metrics.wilson_interval(PIXELS[0, 0], PIXELS[0, 0].to("meta")) -> ValueError: counts is on meta
    metrics.wilson_interval([1], [2], level=0) -> ValueError: level must lie in
    metrics.auroc(torch.tensor([0.1, NAN]), SURE) -> ValueError: in_scores must be finite
    metrics.auroc(SURE, SURE.to("meta")) -> ValueError: out_scores is on meta
    metrics.auroc(SURE, [NAN]) -> ValueError: out_scores must be finite
    metrics.fpr_at_tpr([0.5], [0.5], tpr=95) -> ValueError: tpr must lie in
    metrics.fpr_at_tpr([0.5], [0.5], tpr=0) -> ValueError: tpr must lie in
    metrics.bootstrap_interval(PROBS, LABELS, metric="nll2") -> ValueError: metric must be one of
    metrics.bootstrap_interval(PROBS, LABELS, level=1.0) -> ValueError: level must lie in
    metrics.bootstrap_interval(PROBS, LABELS, seed=-1) -> ValueError: seed must
    metrics.bootstrap_interval(PROBS, LABELS, method="basic") -> ValueError: method must
    metrics.bootstrap_interval_of(SURE, HITS, metric="classwise_ece") -> ValueError: metric must
    metrics.calibration_test(PROBS, LABELS, metric="mce") -> ValueError: metric must
    metrics.calibration_test(PROBS, LABELS, seed=-1) -> ValueError: seed must
    metrics.corp(PROBS, LABELS).band(level=1.0) -> ValueError: level
    metrics.corp(PROBS, LABELS).band(seed=-1) -> ValueError: seed
    metrics.paired_interval(PROBS, PROBS, LABELS, metric="mce") -> ValueError: metric must
    metrics.paired_interval(PROBS, PROBS, LABELS, method="basic") -> ValueError: method must
    metrics.paired_interval(PROBS / 2, PROBS, LABELS) -> ValueError: probs_a must have rows that sum
    metrics.paired_interval(PROBS, PROBS[:2], LABELS) -> ValueError: probs_b must have the shape of
    metrics.paired_interval(PROBS, PROBS.to("meta"), LABELS) -> ValueError: probs_b is on meta but
    metrics.paired_interval(TWO.round(), TWO.round(), [0, 0], metric="nll") -> ValueError: ...row 1
    metrics.paired_interval_of([0.5], [1], [0.5, 0.6], [1, 0]) -> ValueError: confidence_b must have
    metrics.paired_interval_of([0.5], [1], [0.5], [1], metric="mce") -> ValueError: metric must be
    metrics.pixels(MAPS, PIXELS + 255) -> ValueError: labels must lie in [0, 4)
    metrics.pixels(MAPS.softmax(1), PIXELS) -> ValueError: scores are probabilities
    metrics.pixels(MAPS, PIXELS, kind="probs") -> ValueError: scores must lie in [0, 1]
    metrics.pixels(MAPS, PIXELS, kind="scores") -> ValueError: kind must be one of
    metrics.pixels(MAPS[0, :, 0], PIXELS[0]) -> ValueError: scores must be maps (B, K, ...)
    metrics.pixels(MAPS, PIXELS[:, :5]) -> ValueError: labels must have shape
    metrics.pixels(MAPS, PIXELS + 255, ignore_index=255) -> ValueError: labels must hold a label
    metrics.pixels(MAPS, PIXELS.to("meta")) -> ValueError: labels is on meta
    metrics.alarm_costs(0) -> ValueError: ...ratio must lie in
    metrics.alarm_costs(float("inf")) -> ValueError: ...ratio must lie in
    metrics.cheapest_action(2 * TWO, COSTS) -> ValueError: ...probs
    metrics.cheapest_action(TWO, COSTS.repeat(1, 2)) -> ValueError: ...costs must have one col
    metrics.action_cost([0, 2], [0, 1], COSTS) -> ValueError: ...actions must lie in [0, 2
    metrics.action_cost([0], [0, 1], COSTS) -> ValueError: ...actions must have one entry
    metrics.action_cost([0, 1], [0, 2], COSTS) -> ValueError: ...truth must lie in [0, 2
    metrics.action_cost([0, 1], 2 * TWO, COSTS) -> ValueError: ...truth
    metrics.decision_cost(TWO, [0, 1, 1], COSTS) -> ValueError: ...actions must have one entry
    metrics.regret(TWO, [0, 1], COSTS) -> ValueError: ...posterior
    metrics.net_benefit([0.5], [1], threshold=0) -> ValueError: ...threshold must lie in
    metrics.net_benefit([0.5], [1], threshold=1) -> ValueError: ...threshold must lie in
    metrics.net_benefit([5.0], [1], threshold=0.5) -> ValueError: ...write 0.9 for 90 %
    metrics.net_benefit([0.5], [2], threshold=0.5) -> ValueError: ...happened must lie
    metrics.net_benefit([0.5], [1.5], threshold=0.5) -> ValueError: happened must lie in [0, 1]
    metrics.cheapest_action(TWO, COSTS / 0) -> ValueError: costs must be finite
    metrics.net_benefit([0.5], [1, 0], threshold=0.5) -> ValueError: ...happened must ha
    metrics.regret(TWO, TWO, COSTS, weights=[0, 0]) -> ValueError: ...weights must not all be
    conventions.follows(metrics.ece, bins=12) -> ValueError: bins must be one of 10, 15
    plane.kappa([(0.2, 0.1)]) -> ValueError: ...places must be at least 2 pairs
    plane.kappa([(0.2, 0.1), (0.2, NAN)]) -> ValueError: ...places must be finite
    plane.place(99.0, 0.7, 0.8) -> ValueError: ...train_accuracy must lie in
    plane.place(1.0, 0.7, 1.2) -> ValueError: ...confidence must lie in
    plane.same_labels_accuracy(0.7, 1.2, 10) -> ValueError: ...noise must lie in
    plane.same_labels_accuracy(0.7, 0.2, 1) -> ValueError: ...classes must be at least 2
    plane.kappa_values([(-0.1, 0.1), (0.1, 0.2)]) -> ValueError: ...lose accuracy on average
""")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("function", SCORED, ids=lambda f: f.__name__)
def test_gradients_do_not_matter(function):
    probs = torch.cat([PROBS / 2, PROBS / 2], dim=1)
    found = function(probs.clone().requires_grad_(), LABELS)
    assert str(found) == str(function(probs, LABELS))
