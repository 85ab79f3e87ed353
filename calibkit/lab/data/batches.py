"""A `Dataset` from what somebody else's loop feeds on: tuples or dictionaries of a batch each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from calibkit import validate
from calibkit.lab.data.dataset import Dataset


def from_batches(
    batches: Iterable[Any],
    *,
    classes: int | Sequence[str],
    inputs: int | str = 0,
    labels: int | str = 1,
) -> Dataset:
    """All batches of a loader, such as PyTorch's `DataLoader`, as one `Dataset` in memory.

    batches: tuples or lists, or dictionaries, of a batch each. inputs, labels: their places in a
        tuple, or their keys in a dictionary, such as "pixel_values" and "label".
    classes: the number of classes or their names; the labels need not hold them all.

    The loader is run through once. So an augmentation that it draws is drawn once for all epochs
    (pass `augment=` to the training), its order of shuffling has no say, and all samples must fit
    into memory; inputs are one tensor a batch, all of one shape but for their number. A network of
    several inputs, such as tokens with a mask, trains in a loop of its own: measure its logits.

    Raises ValueError or TypeError for what is no batch, and as `Dataset` does.

    >>> loader = [{"x": torch.zeros(2, 3), "y": [0, 1]}, {"x": torch.ones(1, 3), "y": [1]}]
    >>> data = from_batches(loader, classes=("no", "yes"), inputs="x", labels="y")
    >>> len(data), data.labels.tolist(), data.classes
    (3, [0, 1, 1], ('no', 'yes'))
    """
    names = classes
    if not isinstance(names, Sequence):
        names = tuple(map(str, range(validate.integer("classes", names, 2))))
    parts = [(_part(batch, inputs, "inputs"), _part(batch, labels, "labels")) for batch in batches]
    if not parts:
        raise ValueError("batches hold no batch; a generator can be run through only once")
    shapes = {tuple(x.shape[1:]) for x, _ in parts}
    if len(shapes) > 1:
        raise ValueError(
            f"inputs must have one shape in all batches, got {sorted(shapes)}; resize or pad them"
        )
    x, y = (torch.cat(part) for part in zip(*parts, strict=True))
    return Dataset(x, y, tuple(names))


def _part(batch: Any, key: int | str, name: str) -> Tensor:
    """The inputs or the labels of a batch."""
    found = sorted(map(str, batch)) if isinstance(batch, Mapping) else None
    if found is not None and key not in batch:
        raise ValueError(f"{name} must be a key of the batches, {', '.join(found)}, got {key!r}")
    if found is None and not isinstance(batch, Sequence):
        raise TypeError(
            f"batches must be tuples or dictionaries, got {type(batch).__name__}; give a loader of "
            "inputs with labels"
        )
    if found is None and not (isinstance(key, int) and key < len(batch)):
        raise ValueError(f"{name} must be a place below {len(batch)} in the batches, got {key!r}")
    return validate.as_tensor(name, batch[key])
