"""What every lesson passes around: inputs with their labels, and what a model said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from calibkit import devices, torch_defaults, validate


class Source(Protocol):
    """A distribution over labelled inputs whose posterior is known in closed form."""

    def draw(self, n: int, *, seed: int) -> Dataset: ...

    def posterior(self, inputs: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class Dataset:
    """`n` labelled inputs that live on one device as tensors.

    inputs: (n, ...) float, for images (n, channels, height, width).
    labels: (n,) int64 in [0, K).
    classes: the K class names.
    posterior: (n, K) exact p(class | input), or None where nobody knows it.
    source: the distribution that the data were drawn from, when that is known.

    Raises ValueError or TypeError when lengths, types or devices disagree.

    >>> data = Dataset(torch.zeros(3, 1, 2, 2), torch.tensor([0, 1, 1]), ("no", "yes"))
    >>> len(data), data.num_classes, data[data.labels == 1].labels.tolist()
    (3, 2, [1, 1])
    """

    inputs: Tensor
    labels: Tensor
    classes: tuple[str, ...]
    posterior: Tensor | None = None
    source: Source | None = None

    def __post_init__(self) -> None:
        inputs = validate.as_tensor("inputs", self.inputs)
        if isinstance(self.classes, int):
            names = "tuple(map(str, range(K)))"
            raise TypeError(f"classes must be the class names, got {self.classes}; write {names}")
        n, classes, device = len(inputs), len(self.classes), inputs.device
        labels = validate.labels(self.labels, n=n, classes=classes, device=device, of="the inputs")
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "labels", labels)
        if self.posterior is not None:
            posterior = validate.probs(self.posterior, "posterior")
            validate.same_length("posterior", len(posterior), n)
            validate.same_device("posterior", posterior, device, "the inputs")

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: slice | Tensor | list[int]) -> Dataset:
        """The chosen samples (a slice, indices or a boolean mask) as a dataset of their own."""
        if isinstance(index, int):
            raise TypeError(f"index must choose several samples, got {index}; write [{index}:+1]")
        return self._each(lambda tensor: tensor[index])

    @property
    def num_classes(self) -> int:
        """K, the number of classes."""
        return len(self.classes)

    @property
    def device(self) -> torch.device:
        """Where the tensors live."""
        return self.inputs.device

    def to(self, device: str | torch.device) -> Dataset:
        """The same data on another device."""
        return self._each(lambda tensor: devices.moved(tensor, device))

    def with_labels(self, labels: Tensor) -> Dataset:
        """The same inputs under other labels; the posterior, which described the old ones, goes."""
        return replace(self, labels=labels, posterior=None)

    def _each(self, change: Callable[[Tensor], Tensor]) -> Dataset:
        posterior = None if self.posterior is None else change(self.posterior)
        labels = change(self.labels)
        return replace(self, inputs=change(self.inputs), labels=labels, posterior=posterior)


class Splits(NamedTuple):
    """What a model learns from, what its temperature is fitted on, and what it is judged on."""

    train: Dataset
    calibration: Dataset
    test: Dataset


@dataclass(frozen=True)
class Predictions:
    """Logits of a model with the true labels and, where known, the true posterior.

    logits: (n, K) finite floats.
    labels: (n,) int64 in [0, K).
    posterior: (n, K) exact p(class | input), or None.

    >>> two = Predictions(torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 0]))
    >>> two.predicted.tolist(), two.correct.tolist()
    ([0, 1], [True, False])
    """

    logits: Tensor
    labels: Tensor
    posterior: Tensor | None = None

    def __post_init__(self) -> None:
        logits, labels = validate.scores(self.logits, self.labels)
        object.__setattr__(self, "logits", logits)
        object.__setattr__(self, "labels", labels)
        if self.posterior is not None:
            posterior = validate.probs(self.posterior, "posterior")
            validate.same_length("posterior", len(posterior), len(logits))

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    @torch_defaults.entry
    def probs(self) -> Tensor:
        """(n, K) softmax of the logits."""
        return self.logits.softmax(dim=1)

    @cached_property
    def confidence(self) -> Tensor:
        """(n,) probability of the predicted class."""
        return self.probs.amax(dim=1)

    @cached_property
    def predicted(self) -> Tensor:
        """(n,) class with the largest logit, the lowest index on ties."""
        return self.logits.argmax(dim=1)

    @cached_property
    def correct(self) -> Tensor:
        """(n,) whether the predicted class is the true one."""
        return self.predicted == self.labels

    def to(self, device: str | torch.device) -> Predictions:
        """The same predictions on another device."""
        return Predictions(*devices.moved([self.logits, self.labels, self.posterior], device))


def independent_draws(source: Source, *, n: int, calibration: int, test: int, seed: int) -> Splits:
    """Three draws from `source` whose random streams have nothing in common.

    Raises ValueError for a size below 1 or a negative seed.
    """
    sizes = {"n": n, "calibration": calibration, "test": test}
    for name, size in sizes.items():
        validate.integer(name, size, 1)
    # SeedSequence keeps the three streams of one seed, and those of neighbouring seeds, apart.
    streams = np.random.SeedSequence(validate.integer("seed", seed, 0)).generate_state(3).tolist()
    drawn = zip(sizes.values(), streams, strict=True)
    return Splits(*(source.draw(size, seed=stream) for size, stream in drawn))


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
