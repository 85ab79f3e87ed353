"""Checkers of the exercises: `check.NAME(your_function)` says in words what is right or wrong.

`lesson_NN_*.py` hold the exercises of one notebook each, `engine.py` runs them, `hints.py` tells
the mistake. A new exercise is named here and used by its notebook; nothing else needs to know it.
A lesson's module is loaded when one of its checkers is asked for: their known answers take time.
"""

from importlib import import_module
from typing import Any

LESSONS = {
    "lesson_00_start_here": ("signed_gap",),
    "lesson_01_reliability_diagrams": ("bin_index", "ece"),
    "lesson_02_measuring_calibration": ("brier", "classwise_ece"),
    "lesson_03_overconfidence": ("nll_parts", "early_stop"),
    "lesson_04_architectures": ("own_best", "attention"),
    "lesson_05_dataset_size": ("gap_interval",),
    "lesson_06_label_noise": ("noise_matrix", "noisy_nll"),
    "lesson_07_class_imbalance": ("other_prior", "class_errors"),
    "lesson_08_temperature": ("fitted_temperature",),
    "lesson_09_soft_targets": ("smoothed_loss", "penalty_posterior", "selective_risk"),
    "lesson_10_focal_theory": ("gradient_ratio", "gamma_star", "focal_posterior"),
    "lesson_11_focal_practice": ("sample_gamma", "ensemble_probs"),
    "lesson_12_mixup": ("mixed_labels", "honest_choice"),
    "lesson_13_shift_and_ood": ("informed_posterior", "strange_auroc", "lost_confidence"),
    "lesson_14_sample_prioritization": ("top_entropy", "selection_cost"),
    "lesson_15_text": ("masked_mean", "note_probability"),
    "lesson_16_translation": ("next_law", "masked_gap"),
    "lesson_17_audit_your_model": ("group_z",),
    "lesson_18_estimators_in_depth": ("avoidable_brier",),
    "lesson_19_decisions": ("decision_regret", "cheapest_action"),
    "lesson_20_guarantees": ("conformal_threshold", "set_coverage", "group_thresholds"),
    "lesson_21_language_models": ("fact_posterior", "by_meaning"),
}
LESSON_OF = {name: lesson for lesson, names in LESSONS.items() for name in names}


def __getattr__(name: str) -> Any:
    """The exercise `name`; `EXERCISES` has all of them by name, in the order of the lessons.

    `keep` writes a right answer to the learner's own library.
    """
    if name == "EXERCISES":
        return {name: __getattr__(name) for name in LESSON_OF}
    if name == "keep":
        return import_module("calibkit.course.mine").keep
    if name not in LESSON_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LESSON_OF[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *LESSON_OF, "keep"]
