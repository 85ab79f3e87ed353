"""The defaults: papers, lessons and registers quote numbers that follow from them unnamed."""

import importlib
import inspect
import re

MODULES = (
    *("metrics", "metrics.plane", "recalibration", "losses", "mixing", "augmentation", "curation"),
    *("corruptions", "conformal", "prioritization", "adapters.streaming"),
    *("lab.data", "lab.models", "lab.training", "lab.sweep", "lab.translation", "lab.text"),
    "pictures.plots",
)
# of each parameter its usual default, then others with those who have them
DEFAULTS = """
allow_fitted False; alpha 0.05 | 1.0 cutmix; autocast False; batch_size 128 | 64 Plan
beta 0.999; binning width | mass debiased_ece; bins 15; cache True
calibration 2000 | 1000 clusters | 300 digits | 5000 splits_of; channels 3
classes 10 | () Texts; clear 0.8; closed right; correlations (0.7,-0.3,0.5,0.1); deep True
depth 2 | 3 cnn text_cnn | 6 mlp_mixer vit | 1 text_transformer | 26 wide_resnet; device cpu
divisor K; dropout 0.0; embedding 32 | 100 text_cnn; epochs 60; exclude_true False
flip 0.1 | True crop_flip; folds 5; forward 0.7; gammas 5-3-1 | 5-3 flsd; gradients False
heads 4 | 2 text_transformer; how auto; inputs 0; intercept 0.0; interrupted False; k 5; keep ()
kernel 5; kind logits | gaussian noise_images | exponential imbalance | shuffle symmetric_noise
labels 1; last False; legend True; axes xy; unit %
level 0.9 | 0.95 Reliability.interval kappa wilson_interval reliability_diagram draw_reliability
limits (0.001,1000.0); longest 48 | 32 beam translate | 16 Notes; lr 0.1 | 0.003 Plan; marks ()
method reflected | nll TemperatureScaler; metric ece; milestones (0.5,0.75); mix both
momentum 0.9; n 1500 | 4000 clusters; noise 0.4; norm l1; normalise True; off_diagonal 0.0
optimizer sgd; padded False; padding 4; patch 4; penalties (0.001,0.03,0.3,1.0,inf); penalty 1.0
per_sample False; pool sum; progress True; rates 0.5; reduction mean; resamples 1000 | 200 Corp.band
schedule step; seconds 0.0; seed 0; share 0.1; shortest 3; side 4.0; size 32; source False
split train; stay 0.2; steps 400; stratified True; temperature 1.0
test 10000 | 1000 clusters | 500 digits; test_split test; threshold 0.99; tpr 0.95
train_split train; variant weighted; warmup 0 | 0.0 Recipe; weight 0.1 | 2.0 mmce
weight_decay 0.0001 | 0.01 Plan; widen 10; width 32 | 16 resnet | 24 convnet | 48 Plan Translator
width 64 text_bag | 128 mlp_mixer text_cnn vit | 256 mlp | 0.4 mmce mmce_penalty | 1 beam translate
"""


def found():
    """((parameter, who has it), default) of all that is public, where it is a number or a word."""
    for module in (importlib.import_module(f"calibkit.{name}") for name in MODULES):
        for name in getattr(module, "__all__", [k for k in vars(module) if k[0] != "_"]):
            parts = {name: (one := getattr(module, name))}
            if isinstance(one, type):
                parts |= {f"{name}.{k}": each for k, each in vars(one).items() if k[0] != "_"}
            for who, each in parts.items():
                home = str(getattr(each, "__module__", "")) if callable(each) else ""
                if home.startswith(module.__name__) and not who.endswith("Error"):
                    for parameter in inspect.signature(each).parameters.values():
                        if isinstance(parameter.default, int | float | str | tuple):
                            yield (parameter.name, who), str(parameter.default).replace(" ", "")


def test_no_default_changes_unsaid():
    known = {}
    for item in re.split(";|\n", DEFAULTS.strip()):
        parameter, options = item.strip().split(" ", 1)
        for value, *those in map(str.split, options.split(" | ")):
            known |= {(parameter, who): value for who in those or [None]}
    defaults = dict(found())
    usual = {key: known.get(key, known.get((key[0], None))) for key in defaults}
    assert [(*key, now) for key, now in defaults.items() if now != usual[key]] == []
    assert {key for key in known if key[1]} <= set(defaults)
