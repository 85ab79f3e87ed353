"""Every function and method that a user calls, and how: `ENTRIES["metrics.ece"](Given())`.

The names are those of the modules; `tests/test_callers_world.py` fails where one is missing here.
"""

import dataclasses
import functools
from types import FunctionType

import numpy as np
import torch

import calibkit
from calibkit import (
    augmentation,
    conformal,
    corruptions,
    curation,
    devices,
    losses,
    metrics,
    mixing,
    prioritization,
    recalibration,
    theory,
    validate,
)
from calibkit.lab import data, models, training
from tests.recalibration.samples import ALL, quick

MODULES = (
    *(augmentation, conformal, corruptions, curation, losses, metrics, mixing, recalibration),
    theory,
)


class Given:
    """Predictions and images; `of` may turn each of them into another kind of array."""

    def __init__(self, of=lambda value: value, n=80, classes=4):
        draw = torch.Generator().manual_seed(0)
        z = torch.randn(n, classes, generator=draw) * 2
        y = (z + 2 * torch.randn(n, classes, generator=draw)).argmax(1)
        p, hits = z.softmax(1), z.argmax(1) == y
        self.z, self.y, self.p, self.q = of(z), of(y), of(p), of((z / 2).softmax(1))
        self.fresh, self.sure, self.hits = of(z / 2 + 0.1), of(p.amax(1)), of(hits)
        self.weights, self.groups = of(torch.linspace(0.5, 2, n)), of(y % 3)
        self.sets, self.costs = of(p > 0.1), of(torch.eye(classes))
        self.images = of(torch.rand(6, 3, 12, 12, generator=draw))
        self.few, self.words = of(y[:6]), of(y[:6, None].repeat(1, 5))
        self.prior, self.new = of(torch.tensor([0.1, 0.2, 0.3, 0.4])), of(torch.full((4,), 0.25))
        self.noise = of(0.7 * torch.eye(classes) + 0.3 / classes)
        self.class_weights = of(torch.linspace(0.5, 2, classes))
        self.counts = of(torch.tensor([5, 10, 20, 40]))
        self.unit = of(torch.linspace(0.05, 0.45, 5))
        self.maps, self.map_labels = of(z.T[None, :, :, None]), of(y[None, :, None])


def raw(value):
    """What takes tensors alone."""
    return validate.as_tensor("value", value)


def _corrupted(name):
    return lambda d: corruptions.corrupt(d.images, name, 3, generator=0)


def _mapped(kind):
    return lambda d: [
        (fitted := quick(kind).fit(d.z, d.y)).probs(d.fresh),
        fitted.transform(d.fresh),
        fitted.module().to(raw(d.fresh).device)(raw(d.fresh)),
    ]


def _loss(function, **options):
    return lambda d: function(d.z, d.y, **options)


def _selected(kind):
    return lambda d: kind(share=0.3).choose(d.z, d.y, torch.Generator().manual_seed(0))


def _trained(d):
    train = data.Dataset(raw(d.z).float(), raw(d.y), tuple("abcd"))
    run = training.fit(
        lambda: models.mlp(4, 4, width=8), train, epochs=2, device="cpu", progress=False
    )
    return run.predict(train).logits


MIX = mixing.Mix(torch.tensor(0.25), torch.arange(6).flip(0))
NOISE = {"classes": 4, "seed": 0}
DRAWN = {"classes": 4, "alpha": 0.5, "generator": 0}
ENTRIES = {
    "audit": lambda d: [m.value for m in calibkit.audit(d.z, d.y, resamples=20).measures.values()],
    "audit of probs": lambda d: [
        m.value for m in calibkit.audit(probs=d.p, labels=d.y, resamples=20).measures.values()
    ],
    "training.fit": _trained,
    **{f"corruptions.corrupt {name}": _corrupted(name) for name in corruptions.CORRUPTIONS},
    "corruptions.noise_images": lambda d: corruptions.noise_images(2, size=8, generator=0),
    "augmentation.crop_flip": lambda d: augmentation.crop_flip(d.images, generator=0),
    **{f"recalibration.{kind.__name__}": _mapped(kind) for kind in ALL},
    "recalibration.TemperatureScaler of a grid": lambda d: (
        recalibration.TemperatureScaler("ece_grid").fit(d.z, d.y).temperature
    ),
    "recalibration.change_prior": lambda d: recalibration.change_prior(d.p, old=d.prior, new=d.new),
    "recalibration.logit_adjustment": lambda d: recalibration.logit_adjustment(
        d.z, old=d.prior, new=d.new
    ),
    "recalibration.interval_around": lambda d: recalibration.interval_around(
        1.5, raw(d.z), raw(d.y), 0.9
    ),
    "recalibration.temperature_interval": lambda d: recalibration.temperature_interval(d.z, d.y),
    "recalibration.restore": lambda d: (
        recalibration.restore(
            recalibration.TemperatureScaler.of(2).module().state_dict()
        ).temperature
    ),
    **{f"losses.{name}": _loss(getattr(losses, name)) for name in ("brier", "cross_entropy")},
    **{f"losses.{name}": _loss(getattr(losses, name)) for name in ("flsd", "label_smoothing")},
    "losses.confidence_penalty": _loss(losses.confidence_penalty),
    "losses.focal": _loss(losses.focal, gamma=2.0),
    "losses.focal weighted": lambda d: losses.focal(
        d.z, d.q, gamma=2.0, class_weights=d.class_weights
    ),
    "losses.focal per sample": lambda d: losses.focal(d.z, d.y, gamma=d.weights),
    "losses.dual_focal": _loss(losses.dual_focal, gamma=2.0),
    "losses.forward_corrected": lambda d: losses.forward_corrected(d.z, d.y, transition=d.noise),
    "losses.cross_entropy soft": lambda d: losses.cross_entropy(
        d.z, d.q, class_weights=d.class_weights
    ),
    **{
        f"losses.{function.__name__} {variant}": _loss(function, variant=variant)
        for function in (losses.mmce, losses.mmce_penalty)
        for variant in ("plain", "weighted", "squared")
    },
    "losses.ScheduledFocal": lambda d: losses.ScheduledFocal()(d.z, d.y),
    "losses.scheduled_gamma": lambda d: losses.scheduled_gamma(3, 7),
    "losses.inverse_frequency_weights": lambda d: losses.inverse_frequency_weights(d.counts),
    "losses.class_balanced_weights": lambda d: losses.class_balanced_weights(d.counts),
    "mixing.draw": lambda d: mixing.draw(6, 0.5, per_sample=True, generator=0),
    "mixing.mixup": lambda d: mixing.mixup(d.images, d.few, **DRAWN),
    "mixing.mixup of inputs": lambda d: mixing.mixup(d.images, d.few, mix="inputs", **DRAWN),
    "mixing.word_mixup": lambda d: mixing.word_mixup(d.words, d.few, **DRAWN),
    "mixing.cutmix": lambda d: mixing.cutmix(d.images, d.few, **DRAWN),
    "mixing.Mix": lambda d: [
        (mix := devices.moved(MIX, raw(d.few).device)).apply(d.images),
        mix.soft_labels(d.few, 4),
        mix.main_labels(d.few, 4),
    ],
    **{
        f"prioritization.{kind.__name__}": _selected(kind)
        for kind in prioritization.Selection.__subclasses__()
        if kind.__module__ == prioritization.__name__  # others are those of tests and experiments
    },
    "curation.subset": lambda d: curation.subset(d.y, 0.5, seed=0),
    "curation.imbalance": lambda d: curation.imbalance(d.y, 10.0, seed=0),
    "curation.resample": lambda d: curation.resample(d.y, strategy="oversample", seed=0),
    "curation.resample to counts": lambda d: curation.resample(d.y, counts=d.counts, seed=0),
    "curation.symmetric_noise": lambda d: curation.symmetric_noise(d.y, 0.3, **NOISE),
    "curation.classwise_noise": lambda d: curation.classwise_noise(d.y, d.prior, **NOISE),
    "curation.classwise_noise ramp": lambda d: curation.classwise_noise(d.y, 0.5, **NOISE),
    "curation.transition_matrix": lambda d: curation.transition_matrix(
        0.3, kind="shuffle", classes=4, prior=d.prior
    ),
    "conformal.conformal_quantile": lambda d: conformal.conformal_quantile(d.sure, 0.1),
    "conformal.group_quantiles": lambda d: conformal.group_quantiles(d.sure, d.groups, 0.1),
    "conformal.weighted_quantiles": lambda d: conformal.weighted_quantiles(
        d.sure, d.weights, d.weights, 0.1
    ),
    "conformal.exact_coverage": lambda d: conformal.exact_coverage(d.sets, d.q),
    "conformal.coverage_at": lambda d: conformal.coverage_at(d.p, d.q, d.unit),
    "conformal.smallest_sets": lambda d: conformal.smallest_sets(d.q, 0.8),
    "conformal.coverage_law": lambda d: conformal.coverage_law(99, 0.1).mean(),
    **{
        f"metrics.{name}": lambda d, f=name: getattr(metrics, f)(d.p, d.y)
        for name in (
            *("ece", "mce", "ada_ece", "classwise_ece", "overconfidence_error", "signed_gap"),
            *("debiased_ece", "smooth_ece", "accuracy", "aurc", "augrc", "nll", "brier"),
            *("brier_decomposition", "bootstrap_interval", "calibration_test", "tally", "corp"),
            *("confident_share", "risk_coverage", "reliability", "ece_by_group"),
        )
    },
    **{
        f"metrics.{name} weighted": lambda d, f=name: getattr(metrics, f)(
            d.p, d.y, weights=d.weights
        )
        for name in (
            *("ece", "ada_ece", "classwise_ece", "smooth_ece", "nll", "brier", "tally"),
            *("brier_decomposition", "bootstrap_interval", "calibration_test"),
        )
    },
    **{
        f"metrics.{name}_of": lambda d, f=f"{name}_of": getattr(metrics, f)(d.sure, d.hits)
        for name in (
            *("ece", "debiased_ece", "smooth_ece", "reliability", "risk_coverage"),
            *("calibration_test", "bootstrap_interval"),
        )
    },
    "metrics.paired_interval_of": lambda d: metrics.paired_interval_of(
        d.sure, d.hits, d.sure, d.hits
    ),
    "metrics.TopLabel": lambda d: metrics.accuracy(metrics.TopLabel(d.sure, d.hits, d.weights)),
    "metrics.bootstrap_interval of classes": lambda d: metrics.bootstrap_interval(
        d.p, d.y, metric="classwise_ece"
    ),
    "metrics.calibration_test smooth": lambda d: metrics.calibration_test(
        d.p, d.y, metric="smooth_ece", resamples=5
    ),
    "metrics.paired_interval": lambda d: metrics.paired_interval(d.p, d.q, d.y),
    "metrics.top_k_accuracy": lambda d: metrics.top_k_accuracy(d.p, d.y, k=2),
    "metrics.true_calibration_error": lambda d: metrics.true_calibration_error(d.p, d.q),
    "metrics.entropy": lambda d: metrics.entropy(d.p),
    "metrics.auroc": lambda d: metrics.auroc(d.sure, d.weights),
    "metrics.fpr_at_tpr": lambda d: metrics.fpr_at_tpr(d.sure, d.weights),
    "metrics.pixels": lambda d: metrics.pixels(d.maps, d.map_labels),
    "metrics.alarm_costs": lambda d: metrics.alarm_costs(20),
    "metrics.cheapest_action": lambda d: metrics.cheapest_action(d.p, d.costs),
    "metrics.action_cost": lambda d: metrics.action_cost(d.y, d.y, d.costs, weights=d.weights),
    "metrics.decision_cost": lambda d: metrics.decision_cost(d.p, d.y, d.costs),
    "metrics.regret": lambda d: metrics.regret(d.p, d.q, d.costs),
    "metrics.net_benefit": lambda d: metrics.net_benefit(d.sure, d.hits, threshold=0.5),
    "metrics.wilson_interval": lambda d: metrics.wilson_interval(d.few, d.few),
    "theory.gradient_ratio": lambda d: theory.gradient_ratio(d.unit, 2.0),
    "theory.gradient_threshold": lambda d: theory.gradient_threshold(d.unit),
    "theory.gamma_star": lambda d: theory.gamma_star(d.unit),
    "theory.focal_minimiser": lambda d: theory.focal_minimiser(d.unit, 2.0),
    "theory.focal_minimiser_multiclass": lambda d: theory.focal_minimiser_multiclass(d.prior, 2.0),
    "theory.focal_posterior": lambda d: theory.focal_posterior(d.p, 2.0),
    "theory.smoothing_minimiser": lambda d: theory.smoothing_minimiser(4, d.unit),
    "theory.penalty_minimiser": lambda d: theory.penalty_minimiser(d.prior, 0.5),
    "theory.penalty_posterior": lambda d: theory.penalty_posterior(d.prior, 0.5),
}


def public() -> list[str]:
    """The names of all public functions of the methods."""
    found = []
    for module in MODULES:
        names = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
        for name in names:
            value, full = getattr(module, name), f"{module.__name__.split('.')[-1]}.{name}"
            if isinstance(value, FunctionType) and value.__module__.startswith(module.__name__):
                found.append(full)
    return found


def numbers(result) -> list[torch.Tensor]:
    """All numbers of a result, as float64 tensors of the CPU."""
    if isinstance(result, torch.Tensor):
        return [result.detach().cpu().double()]
    if isinstance(result, bool | int | float | np.ndarray | np.generic):
        return [torch.as_tensor(np.asarray(result, dtype=np.float64))]
    if dataclasses.is_dataclass(result):
        result = list(vars(result).values())
    if isinstance(result, list | tuple):
        return [part for one in result for part in numbers(one)]
    return []


@functools.cache
def plain(name: str) -> list[torch.Tensor]:
    """The numbers of an entry as it comes."""
    return numbers(ENTRIES[name](Given()))
