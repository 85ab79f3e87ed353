"""Checkers of the exercises: `check.NAME(your_function)` says in words what is right or wrong.

`lesson_NN_*.py` hold the exercises of one notebook each, `engine.py` runs them, `hints.py` tells
the mistake. A new exercise is named here and used by its notebook; nothing else needs to know it.
"""

from calibkit.check.lesson_00_start_here import signed_gap
from calibkit.check.lesson_01_reliability_diagrams import bin_index, ece
from calibkit.check.lesson_02_measuring_calibration import brier, classwise_ece
from calibkit.check.lesson_03_overconfidence import early_stop, nll_parts
from calibkit.check.lesson_04_architectures import attention, patch_tokens
from calibkit.check.lesson_05_dataset_size import equal_steps, true_gap
from calibkit.check.lesson_06_label_noise import noise_matrix, noisy_nll
from calibkit.check.lesson_07_class_imbalance import class_errors, other_prior
from calibkit.check.lesson_08_temperature import cooled_nll, matching_temperature
from calibkit.check.lesson_09_soft_targets import penalty_posterior, selective_risk
from calibkit.check.lesson_10_focal_theory import focal_posterior, gamma_star, gradient_ratio
from calibkit.check.lesson_11_focal_practice import ensemble_probs, sample_gamma
from calibkit.check.lesson_12_mixup import honest_choice, mixed_labels
from calibkit.check.lesson_13_shift_and_ood import (
    informed_posterior,
    lost_confidence,
    strange_auroc,
)
from calibkit.check.lesson_14_sample_prioritization import (
    chosen_gap,
    selection_cost,
    top_entropy,
)
from calibkit.check.lesson_15_text import masked_mean, note_probability
from calibkit.check.lesson_16_translation import masked_gap, next_law
from calibkit.check.lesson_17_audit_your_model import cross_fitted, group_z
from calibkit.check.lesson_18_estimators_in_depth import avoidable_brier

EXERCISES = {
    exercise.name: exercise
    for exercise in (
        signed_gap,
        bin_index,
        ece,
        brier,
        classwise_ece,
        nll_parts,
        early_stop,
        patch_tokens,
        attention,
        equal_steps,
        true_gap,
        noise_matrix,
        noisy_nll,
        other_prior,
        class_errors,
        cooled_nll,
        matching_temperature,
        penalty_posterior,
        selective_risk,
        gradient_ratio,
        gamma_star,
        focal_posterior,
        sample_gamma,
        ensemble_probs,
        mixed_labels,
        honest_choice,
        informed_posterior,
        strange_auroc,
        lost_confidence,
        top_entropy,
        selection_cost,
        chosen_gap,
        masked_mean,
        note_probability,
        next_law,
        masked_gap,
        group_z,
        cross_fitted,
        avoidable_brier,
    )
}
