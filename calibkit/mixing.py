"""Mixup and CutMix: training on blends of two samples.

A `Mix` is one drawn blend (weights and partners). It can be applied to any tensor with a batch
dimension, so a model may mix its input, its embedding or a hidden layer with the same draw.
"""

from __future__ import annotations

import functools
import math
import zlib
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from calibkit import devices, torch_defaults, validate
from calibkit.validate import Array

Part = Literal["both", "inputs", "labels"]
PARTS = get_args(Part)


@dataclass(frozen=True)
class Mix:
    """Weights `lam`, () or (n,), of the samples and the index `partner` (n,) of their partners."""

    lam: Tensor
    partner: Tensor

    def __post_init__(self) -> None:
        validate.as_tensor("partner", self.partner, ndim=1)
        if validate.floating("lam", self.lam).shape not in ((), self.partner.shape):
            raise ValueError(
                f"lam must be one number or one per sample, {tuple(self.partner.shape)}, "
                f"got shape {tuple(self.lam.shape)}"
            )

    @torch_defaults.entry
    def apply(self, tensor: Tensor) -> Tensor:
        """lam x_i + (1 - lam) x_partner(i) for a floating (n, ...) tensor of any layer.

        Raises ValueError or TypeError naming the argument. Source: Zhang et al. 2018, eq. 1.

        >>> half = Mix(torch.tensor(0.5), torch.tensor([1, 0]))
        >>> half.apply(torch.tensor([[0.0], [1.0]])).tolist()
        [[0.5], [0.5]]
        """
        tensor = validate.floating("tensor", tensor)
        self._fits("tensor", tensor)
        lam = self.lam.to(tensor.dtype)
        if lam.ndim:
            lam = lam.reshape(-1, *[1] * (tensor.ndim - 1))
        return torch.lerp(tensor[self.partner], tensor, lam)

    @torch_defaults.entry
    def soft_labels(self, labels: Array, classes: int) -> Tensor:
        """(n, K) rows lam onehot(y_i) + (1 - lam) onehot(y_partner(i)).

        `labels` are (n,) integers or already (n, K) soft labels.
        Raises ValueError or TypeError naming the argument. Source: Zhang et al. 2018, eq. 1.

        >>> Mix(torch.tensor(0.75), torch.tensor([1, 0])).soft_labels(torch.tensor([0, 1]), 2)
        tensor([[0.7500, 0.2500],
                [0.2500, 0.7500]])
        """
        rows = _one_hot(labels, classes)
        self._fits("labels", rows)
        return self.apply(rows)

    @torch_defaults.entry
    def main_labels(self, labels: Array, classes: int) -> Tensor:
        """(n, K) one-hot labels of the sample with the larger weight (ties: one's own).

        Raises ValueError or TypeError naming the argument.

        >>> Mix(torch.tensor(0.25), torch.tensor([1, 0])).main_labels(torch.tensor([0, 1]), 2)
        tensor([[0., 1.],
                [1., 0.]])
        """
        return Mix((self.lam >= 0.5).to(self.lam.dtype), self.partner).soft_labels(labels, classes)

    def _fits(self, name: str, tensor: Tensor) -> None:
        validate.same_length(name, len(tensor), len(self.partner))
        validate.same_device(name, tensor, self.partner.device, "the samples to mix")


def draw(
    n: int,
    alpha: float,
    *,
    per_sample: bool = False,
    generator: int | torch.Generator | None = None,
    device: str | torch.device = "cpu",
) -> Mix:
    """A blend for n samples: lam ~ Beta(alpha, alpha), partners a random permutation.

    One lam for the batch, or one a sample. alpha > 0; towards 0 nothing is mixed, at 1 lam is
    uniform. Pass one `generator` for the whole training: a seed gives the same blend each time.
    generator None draws from torch's default generator, which `torch.manual_seed` seeds.
    Raises ValueError or TypeError naming the argument.
    Source: Zhang et al. 2018, algorithm in figure 1; Devroye 1996 for the Beta variates.

    >>> mix = draw(4, 0.2, generator=0)
    >>> mix.lam.shape, sorted(mix.partner.tolist())
    (torch.Size([]), [0, 1, 2, 3])
    """
    n = validate.integer("n", n, 1)
    alpha = _alpha(alpha)
    generator = validate.generator(generator, device)
    lam = _symmetric_beta(alpha, (n,) if per_sample else (), generator)
    return Mix(lam, torch.randperm(n, generator=generator, device=generator.device))


def mixup(
    inputs: Array,
    labels: Array,
    *,
    classes: int,
    alpha: float,
    mix: Part = "both",
    per_sample: bool = False,
    generator: int | torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Mixed (n, ...) inputs and their (n, K) labels.

    mix = "both" is mixup. "inputs" keeps labels hard, those of the sample with the larger weight;
    "labels" softens the labels of unmixed inputs: the two halves of mixup for comparison. `labels`
    (n,) integers or (n, K) soft labels; the rest as in `draw`. generator None draws from torch's
    default generator, which `torch.manual_seed` seeds. Raises ValueError or TypeError naming the
    argument. Source: Zhang et al. 2018, eq. 1; Thulasidasan et al. 2019 for the halves.

    >>> inputs, labels = mixup(torch.eye(3), torch.arange(3), classes=3, alpha=1.0, generator=0)
    >>> torch.equal(inputs, labels)  # inputs that are their own one-hot labels stay so
    True
    """
    validate.choice("mix", mix, PARTS)
    inputs = validate.floating("inputs", inputs)
    drawn = draw(
        len(inputs), alpha, per_sample=per_sample, generator=generator, device=inputs.device
    )
    targets = (drawn.main_labels if mix == "inputs" else drawn.soft_labels)(labels, classes)
    return inputs if mix == "labels" else drawn.apply(inputs), targets


def word_mixup(
    texts: Array,
    labels: Array,
    *,
    classes: int,
    alpha: float,
    generator: int | torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Mixup of texts in the space of their word vectors: blends (n, length, 3), labels (n, K).

    Numbers of words cannot be averaged, their vectors can. So a blend says what is to be averaged:
    at each place the text's word, its partner's word, and the weight lam of the first. The text
    models of `calibkit.lab.models` take it in place of word numbers (n, length), and begin with
    lam v(first) + (1 - lam) v(second); padding is a vector of zeros.

    generator None draws from torch's default generator, which `torch.manual_seed` seeds.
    One lam for the batch; `labels` and the rest as in `mixup`. TypeError for texts that are not
    integers. Source: Guo, Mao & Zhang 2019, wordMixup; Thulasidasan et al. 2019.

    >>> blends, labels = word_mixup(torch.tensor([[5, 6], [7, 0]]), torch.tensor([0, 1]),
    ...                             classes=2, alpha=1.0, generator=0)
    >>> blends.shape, bool((blends[0, :, 2] == labels[0, 0]).all())
    (torch.Size([2, 2, 3]), True)
    """
    texts = validate.as_tensor("texts", texts, ndim=2)
    if texts.is_floating_point() or texts.dtype == torch.bool:
        raise TypeError(f"texts must be word numbers, integers, got {texts.dtype}; use mixup")
    drawn = draw(len(texts), alpha, generator=generator, device=texts.device)
    weights = drawn.lam.expand(texts.shape)
    blends = torch.stack([texts.float(), texts[drawn.partner].float(), weights], dim=2)
    return blends, drawn.soft_labels(labels, classes)


def cutmix(
    images: Array,
    labels: Array,
    *,
    classes: int,
    alpha: float = 1.0,
    generator: int | torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """(n, C, H, W) images with a box pasted from the previous image, and their (n, K) labels.

    The box covers 1 - lam of the area, lam ~ Beta(alpha, alpha), before it is cut at the border;
    the labels are weighted by the area that is left. This is torchvision's `v2.CutMix`, which draws
    from the default CPU generator alone: it is seeded from `generator` for the call, then restored.
    `labels` (n,) integers. Raises ValueError or TypeError naming the argument.
    generator None draws from torch's default generator, which `torch.manual_seed` seeds.
    Source: Yun et al. 2019, eqs. 1 and 2.

    >>> both_ones = torch.tensor([1, 1])
    >>> _, labels = cutmix(torch.ones(2, 1, 8, 8), both_ones, classes=2, generator=0)
    >>> labels.tolist()  # every mixture of class 1 with class 1 is class 1
    [[0.0, 1.0], [0.0, 1.0]]
    """
    # slow to import, and of use here alone
    v2 = validate.extra("torchvision.transforms.v2", "course", "cutmix")

    images = validate.floating("images", images, ndim=4)
    classes = validate.integer("classes", classes, 2)
    labels = validate.as_tensor("labels", labels, ndim=1)
    validate.same_device("labels", labels, images.device, "the images")
    if labels.device.type == "cpu":  # elsewhere a look at values would stall the queue
        labels = validate.labels(labels, n=len(images), classes=classes)
    alpha = _alpha(alpha)
    if not isinstance(generator, torch.Generator):
        generator = validate.generator(generator)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(_seed(generator))
        return v2.CutMix(alpha=alpha, num_classes=classes)(images, labels)


def _seed(generator: torch.Generator) -> int:
    """A number that the generator gives, and goes on; without waiting for an accelerator."""
    drawn = torch.randint(2**62, (), generator=generator, device=generator.device)
    if generator.device.type == "cpu":
        return int(drawn)
    return zlib.crc32(generator.get_state().numpy().tobytes())  # which the host holds


def _symmetric_beta(alpha: float, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Beta(alpha, alpha) as (1 + T / sqrt(nu + T^2)) / 2 with T Student's t of nu = 2 alpha.

    torch's own Beta takes no generator. T comes by the polar method from two uniforms; float64
    and the ratio form carry it through an overflow at small alpha, where lam is 0 or 1.
    """
    device = generator.device
    if device.type in devices.NO_FLOAT64:
        generator = torch.Generator().manual_seed(_seed(generator))
    uniform = functools.partial(torch.rand, generator=generator, device=generator.device)
    radius = uniform(shape, dtype=torch.float64) ** (-1 / alpha) - 1
    side = torch.cos(2 * math.pi * uniform(shape, dtype=torch.float64))
    lam = 0.5 + 0.5 * side.sign() / torch.sqrt(1 + 1 / (radius * side.square()))
    return lam.float().to(device)


def _alpha(alpha: float) -> float:
    return validate.number("alpha", alpha, 0, math.inf, open_low=True, open_high=True)


def _one_hot(labels: Array, classes: int) -> Tensor:
    """(n, K) rows; values are checked on the CPU only, elsewhere that would stall the queue."""
    classes = validate.integer("classes", classes, 2)
    labels = validate.as_tensor("labels", labels)
    look = labels.device.type == "cpu"
    if labels.ndim == 2 and labels.is_floating_point():
        if labels.shape[1] != classes:
            raise ValueError(f"labels must have {classes} columns, got {tuple(labels.shape)}")
        return validate.probs(labels, "labels") if look else labels
    if look or labels.ndim != 1 or labels.is_floating_point() or labels.dtype == torch.bool:
        labels = validate.labels(labels, n=len(labels), classes=classes)
    rows = torch.zeros(len(labels), classes, device=labels.device)
    return rows.scatter_(1, labels.long()[:, None], 1)


torch_defaults.guard(globals())
