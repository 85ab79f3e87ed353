"""Everything that decides one training, as a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from torch import nn

from calibkit import validate
from calibkit.data import Dataset
from calibkit.training.recipe import Recipe


@dataclass(frozen=True)
class Trial:
    """One training that is still to be run.

    model: a function without arguments that builds the network, called under `seed`.
    train: what it learns from.
    score: datasets whose predictions are wanted at the end, by name.
    recipe: the settings.
    watch, keep, gradients: as in `training.fit`.
    """

    model: Callable[[], nn.Module]
    train: Dataset
    score: Mapping[str, Dataset] = field(default_factory=dict)
    recipe: Recipe = field(default_factory=Recipe)
    seed: int = 0
    watch: Mapping[str, Dataset] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    gradients: bool = False


def trial(
    model: Callable[[], nn.Module],
    train: Dataset,
    score: Mapping[str, Dataset] | None = None,
    recipe: Recipe | None = None,
    *,
    seed: int = 0,
    watch: Mapping[str, Dataset] | None = None,
    keep: Sequence[str] = (),
    gradients: bool = False,
    **settings,
) -> Trial:
    """A `Trial`; `settings` are changes to the recipe, as in `training.fit`.

    Raises ValueError or TypeError naming the argument.

    >>> from calibkit import data, models
    >>> train, _, test = data.noisy_digits(300)
    >>> trial(lambda: models.mlp(64, 10), train, {"test": test}, epochs=5).recipe.epochs
    5
    """
    if isinstance(model, nn.Module) or not callable(model):
        raise TypeError(
            f"model must be a function that builds one, got {type(model).__name__}; "
            "write lambda: models.mlp(64, 10)"
        )
    for name, datasets in (("score", score), ("watch", watch)):
        if not all(isinstance(dataset, Dataset) for dataset in (datasets or {}).values()):
            raise TypeError(f"{name} must map names to datasets, got {datasets!r}")
    for name in keep:
        validate.choice("keep", name, tuple(watch or ()))
    recipe = replace(recipe or Recipe(), **settings)
    seed = validate.integer("seed", seed, 0)
    watch = dict(watch or {})
    return Trial(model, train, dict(score or {}), recipe, seed, watch, tuple(keep), gradients)
