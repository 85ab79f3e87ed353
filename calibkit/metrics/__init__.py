"""How well do confidences match frequencies: every number that the course reports.

Predictions come first, labels second, options by keyword. Most take (n, K) probabilities as a
tensor or array on any device and return plain floats, as fractions, summed in float64. Measures
that look at the predicted class alone take, in place of both, a `TopLabel`: confidences and hits.
"""

from calibkit import torch_defaults
from calibkit.metrics import plane as plane
from calibkit.metrics.by_hits import (
    bootstrap_interval_of,
    calibration_test_of,
    debiased_ece_of,
    ece_of,
    paired_interval_of,
    reliability_of,
    risk_coverage_of,
    smooth_ece_of,
)
from calibkit.metrics.classwise import classwise_ece
from calibkit.metrics.corp_diagram import Corp, corp
from calibkit.metrics.decisions import (
    action_cost,
    alarm_costs,
    cheapest_action,
    decision_cost,
    net_benefit,
    regret,
)
from calibkit.metrics.diagram import Reliability, reliability, wilson_interval
from calibkit.metrics.errors import (
    ada_ece,
    debiased_ece,
    ece,
    ece_by_group,
    mce,
    overconfidence_error,
    signed_gap,
    true_calibration_error,
)
from calibkit.metrics.intervals import bootstrap_interval, paired_interval
from calibkit.metrics.scores import (
    BrierParts,
    accuracy,
    augrc,
    aurc,
    auroc,
    brier,
    brier_decomposition,
    confident_share,
    entropy,
    fpr_at_tpr,
    nll,
    risk_coverage,
    top_k_accuracy,
)
from calibkit.metrics.smooth import smooth_ece
from calibkit.metrics.streams import Tally, tally
from calibkit.metrics.testing import CalibrationTest, calibration_test
from calibkit.metrics.top import TopLabel, pixels

__all__ = [
    "BrierParts",
    "CalibrationTest",
    "Corp",
    "Reliability",
    "Tally",
    "TopLabel",
    "accuracy",
    "action_cost",
    "ada_ece",
    "alarm_costs",
    "augrc",
    "aurc",
    "auroc",
    "bootstrap_interval",
    "bootstrap_interval_of",
    "brier",
    "brier_decomposition",
    "calibration_test",
    "calibration_test_of",
    "cheapest_action",
    "classwise_ece",
    "confident_share",
    "corp",
    "debiased_ece",
    "debiased_ece_of",
    "decision_cost",
    "ece",
    "ece_by_group",
    "ece_of",
    "entropy",
    "fpr_at_tpr",
    "mce",
    "net_benefit",
    "nll",
    "overconfidence_error",
    "paired_interval",
    "paired_interval_of",
    "pixels",
    "regret",
    "reliability",
    "reliability_of",
    "risk_coverage",
    "risk_coverage_of",
    "signed_gap",
    "smooth_ece",
    "smooth_ece_of",
    "tally",
    "top_k_accuracy",
    "true_calibration_error",
    "wilson_interval",
]

torch_defaults.guard(globals(), moves=True)
