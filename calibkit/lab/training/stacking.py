"""Many models as one: layers that hold the weights of all and compute them in one call; and losses.

With R runs and a batch of B, dense activations are (R, B, features), and images are
(B, R * channels, height, width) with the channels of a run side by side. Inputs come as
(R, B, ...). A linear layer is one batched matrix product, a convolution one grouped convolution.
Texts are (R, B, length), and their vectors (R, B, length, features).
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from calibkit.lab.models.base import Classifier, GlobalAverage
from calibkit.lab.models.residual import BasicBlock, PreActivatedBlock, Shortcut
from calibkit.lab.models.text import (
    Attending,
    BagFeatures,
    Distances,
    RunningMaximum,
    WordBlock,
    WordConvolution,
    WordFeatures,
    WordNorm,
    WordVectors,
    blended,
    neighbours,
    offsets,
)

Loss = Callable[..., Tensor]
ELEMENTWISE = (nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.SiLU, nn.LeakyReLU, nn.ELU, nn.Identity)
PER_CHANNEL = (nn.MaxPool2d, nn.AvgPool2d, RunningMaximum)
OF_TEXT = (BagFeatures, WordFeatures, Attending, WordBlock)
CONTAINERS = (nn.Sequential, Classifier, BasicBlock, PreActivatedBlock, *OF_TEXT)


class Form(NamedTuple):
    """What models must share to be one."""

    text: str
    tensors: tuple[tuple, ...]
    parameters: int


def form_of(model: nn.Module) -> Form | None:
    """None where a part of the model is not known here, as dropout, whose draws differ."""
    known = (*ELEMENTWISE, *PER_CHANNEL, *CONTAINERS, *STACKED)
    for module in model.modules():
        special = isinstance(module, nn.Conv2d) and (
            module.groups != 1 or module.padding_mode != "zeros"
        )
        if special or type(module) not in known:
            return None
    tensors = tuple((name, t.shape, t.dtype) for name, t in model.state_dict().items())
    return Form(str(model), tensors, sum(p.numel() for p in model.parameters()))


def stacked(models: Sequence[nn.Module]) -> nn.Module:
    """R models of one form as one: inputs (R, B, ...) -> logits (R, B, K). Weights are copied."""
    layer = STACKED.get(type(models[0]))
    if layer is not None:
        return layer(models)
    joint = copy.deepcopy(models[0])
    if isinstance(joint, Classifier):
        joint.sides = None  # its check reads shapes of one model
    for name, _ in list(joint.named_children()):
        setattr(joint, name, stacked([getattr(model, name) for model in models]))
    return joint


def states(network: nn.Module, runs: int) -> list[dict[str, Tensor]]:
    """Per run the weights and running statistics, under the names of its own model."""
    state = network.state_dict()
    if runs == 1:
        return [state]
    return [{name: t[run].clone() for name, t in state.items()} for run in range(runs)]


def head_norms(network: nn.Module, runs: int, gradient: bool = False) -> Tensor:
    """(R,) Euclidean norm of the last linear layer's weights, or of their gradient.

    NaN where there is no such layer.
    """
    linear = [module for module in network.modules() if isinstance(module, nn.Linear | _Linear)]
    head: Any = getattr(network, "head", linear[-1] if linear else None)
    if head is None:
        return torch.full((runs,), float("nan"))
    weight = head.weight.grad if gradient else head.weight.detach()
    return weight.reshape(runs, -1).norm(dim=1)


def side_by_side(tensors: Sequence[Tensor]) -> Tensor:
    """One tensor with the runs in front; a single one as it is."""
    return tensors[0] if len(tensors) == 1 else torch.stack(list(tensors))


class _Layer(nn.Module):
    """Holds, per parameter and buffer of the layers, one tensor with the runs in front."""

    like: list[Any]
    weight: Tensor
    bias: Tensor
    numbers: Tensor
    num_batches_tracked: Tensor

    def __init__(self, layers: Sequence[nn.Module]):
        super().__init__()
        self.runs, self.like = len(layers), [layers[0]]  # in a list: no submodule of ours
        for name, first in layers[0].named_parameters():
            joint = torch.stack([layer.get_parameter(name).detach() for layer in layers])
            self.register_parameter(name, nn.Parameter(joint, requires_grad=first.requires_grad))
        for name, _ in layers[0].named_buffers():
            self.register_buffer(name, torch.stack([layer.get_buffer(name) for layer in layers]))


class _Linear(_Layer):
    def forward(self, x: Tensor) -> Tensor:
        if x.ndim > 3:  # every word of a text
            return self._rows(x.flatten(1, -2)).unflatten(1, x.shape[1:-1])
        return self._rows(x)

    def _rows(self, x: Tensor) -> Tensor:
        weight = self.weight.transpose(1, 2)
        if self.like[0].bias is None:
            return torch.bmm(x, weight)
        return torch.baddbmm(self.bias[:, None], x, weight)


class _Conv2d(_Layer):
    def forward(self, x: Tensor) -> Tensor:
        like = self.like[0]
        bias = None if like.bias is None else self.bias.flatten()
        weight = self.weight.flatten(0, 1)
        return functional.conv2d(
            _images(x), weight, bias, like.stride, like.padding, like.dilation, self.runs
        )


class _BatchNorm(_Layer):
    """Batch normalisation of (B, R * channels, ...) or of (R, B, features)."""

    def forward(self, x: Tensor) -> Tensor:
        like, dense = self.like[0], x.ndim == 3
        if self.training and like.track_running_stats:
            self.num_batches_tracked += 1
        names = ("running_mean", "running_var", "weight", "bias")
        held = (getattr(self, name, None) for name in names)  # None where the layer has none
        mean, variance, weight, bias = (None if t is None else t.view(-1) for t in held)
        fresh = self.training or not like.track_running_stats
        x = x.transpose(0, 1).flatten(1) if dense else x
        out = functional.batch_norm(x, mean, variance, weight, bias, fresh, like.momentum, like.eps)
        return out.unflatten(1, (self.runs, -1)).transpose(0, 1) if dense else out


class _WordNorm(_Layer):
    def forward(self, x: Tensor) -> Tensor:
        like, shape = self.like[0], (self.runs, *[1] * (x.ndim - 2), -1)
        normed = functional.layer_norm(x, like.normalized_shape, eps=like.eps)
        return normed * self.weight.view(shape) + self.bias.view(shape)


class _WordVectors(_Layer):
    def forward(self, x: Tensor) -> Tensor:
        return blended(self._of_words, x)

    def _of_words(self, x: Tensor) -> Tensor:
        size = self.weight.shape[1]
        first = size * torch.arange(self.runs, device=x.device).view(-1, 1, 1)
        return functional.embedding(x + first, self.weight.flatten(0, 1))


class _WordConvolution(_Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(neighbours(x, self.like[0].kernel))


class _Distances(_Layer):
    def forward(self, words: int) -> Tensor:
        return self.numbers[..., offsets(words, self.numbers)][:, None]


class _Flatten(_Layer):
    def forward(self, x: Tensor) -> Tensor:
        return _dense(x, self.runs)


class _GlobalAverage(_Layer):
    def forward(self, x: Tensor) -> Tensor:
        return _dense(x.mean(dim=(2, 3)), self.runs)


class _Shortcut(_Layer):
    def forward(self, x: Tensor) -> Tensor:
        return self.like[0](x.unflatten(1, (self.runs, -1))).flatten(1, 2)


STACKED = {
    nn.Linear: _Linear,
    nn.Conv2d: _Conv2d,
    nn.BatchNorm1d: _BatchNorm,
    nn.BatchNorm2d: _BatchNorm,
    nn.Flatten: _Flatten,
    GlobalAverage: _GlobalAverage,
    Shortcut: _Shortcut,
    WordNorm: _WordNorm,
    WordVectors: _WordVectors,
    WordConvolution: _WordConvolution,
    Distances: _Distances,
}


def _images(x: Tensor) -> Tensor:
    """(R, B, C, H, W) inputs as (B, R * C, H, W); later layers have that already."""
    if x.ndim == 4:
        return x
    last = torch.channels_last if x.device.type == "cpu" else torch.contiguous_format
    return x.transpose(0, 1).flatten(1, 2).contiguous(memory_format=last)


def _dense(x: Tensor, runs: int) -> Tensor:
    """(B, R * features, ...) or (R, B, ...) inputs as (R, B, features)."""
    if x.ndim in (2, 4):
        return x.flatten(1).unflatten(1, (runs, -1)).transpose(0, 1)
    return x.flatten(2)


def criterion(losses: Sequence[Loss], device: str | torch.device = "cpu") -> Loss:
    """The loss itself of a single run; of R runs, from logits (R, B, K) and targets to (R,) losses.

    device: where the logits will lie.

    >>> from torch.nn.functional import cross_entropy
    >>> criterion([cross_entropy] * 2)(torch.zeros(2, 1, 2), torch.tensor([[0], [1]])).tolist()
    [0.6931471824645996, 0.6931471824645996]
    """
    if len(losses) == 1:
        return losses[0]
    groups: dict[Hashable, list[int]] = {}
    for run, loss in enumerate(losses):
        groups.setdefault(_same(loss), []).append(run)
    if len(groups) == 1:
        return _each(losses[0])
    # indices as tensors there, as a list would be copied at every step
    parts = [(_each(losses[r[0]]), torch.tensor(r, device=device)) for r in groups.values()]
    places = torch.cat([runs for _, runs in parts]).argsort()

    def of_all(logits: Tensor, targets: Tensor) -> Tensor:
        values = torch.cat([each(logits[runs], targets[runs]) for each, runs in parts])
        return values[places]

    return of_all


def _each(loss: Loss) -> Loss:
    """The loss of every run in one call, or run by run where it looks at values, as `if` does."""
    if loss is functional.cross_entropy:
        return _cross_entropies
    mapped = torch.vmap(loss)

    def each(logits: Tensor, targets: Tensor) -> Tensor:
        try:
            return mapped(logits, targets)
        except RuntimeError:  # torch.func cannot look into every function
            return torch.stack([loss(*run) for run in zip(logits, targets, strict=True)])

    return each


def _cross_entropies(logits: Tensor, targets: Tensor) -> Tensor:
    """Torch's own: (R, K, B) is a form that it takes at once, in a sixth of `vmap`'s time."""
    targets = targets.transpose(1, 2) if targets.ndim == 3 else targets  # soft labels, or classes
    return functional.cross_entropy(logits.transpose(1, 2), targets, reduction="none").mean(dim=1)


def _same(loss: Loss) -> Hashable:
    """Equal for losses that compute the same, as far as that can be told."""
    key: Hashable = loss
    if isinstance(loss, functools.partial) and not loss.args:
        key = loss.func, tuple(sorted(loss.keywords.items()))
    try:
        hash(key)
    except TypeError:
        return id(loss)
    return key
