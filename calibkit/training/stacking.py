"""Many models as one: layers that hold the weights of all and compute them in one call.

With R runs and a batch of B, dense activations are (R, B, features), and images are
(B, R * channels, height, width) with the channels of a run side by side. Inputs come as
(R, B, ...). A linear layer is one batched matrix product, a convolution one grouped convolution.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from calibkit.models.base import Classifier, GlobalAverage
from calibkit.models.residual import BasicBlock, PreActivatedBlock, Shortcut
from calibkit.training.trial import Trial

ELEMENTWISE = (nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.SiLU, nn.LeakyReLU, nn.ELU, nn.Identity)
PER_CHANNEL = (nn.MaxPool2d, nn.AvgPool2d)
CONTAINERS = (nn.Sequential, Classifier, BasicBlock, PreActivatedBlock)


def stackable(model: nn.Module) -> bool:
    """Whether every part of the model is known here; dropout, whose draws differ, is not."""
    known = (*ELEMENTWISE, *PER_CHANNEL, *CONTAINERS, *STACKED)
    return all(type(module) in known for module in model.modules()) and all(
        module.groups == 1 and module.padding_mode == "zeros"
        for module in model.modules()
        if isinstance(module, nn.Conv2d)
    )


def shape_of(trial: Trial, model: nn.Module) -> tuple | None:
    """What trials must share to be trained as one stack; None for one that cannot be.

    Rates, momentum, weight decay, loss, augmentation, seeds and data may differ, and how a run
    mixes; but mixed runs have soft labels, so that all mix or none does.
    """
    recipe = trial.recipe
    if recipe.select or recipe.autocast or not stackable(model):
        return None
    return (
        str(model),
        tuple((name, tensor.shape, tensor.dtype) for name, tensor in model.state_dict().items()),
        tuple(trial.train.inputs.shape),
        trial.train.num_classes,
        recipe.epochs,
        recipe.batch_size,
        recipe.optimizer,
        recipe.mix is None,
        tuple((name, len(dataset)) for name, dataset in trial.watch.items()),
        trial.keep,
        trial.gradients,
    )


class Joint(nn.Module):
    """R models as one: inputs (R, B, ...) -> logits (R, B, K).

    A single model is used as it is, whatever its layers. Several must be `stackable` and of one
    shape; their weights are copied.
    """

    def __init__(self, models: Sequence[nn.Module]):
        super().__init__()
        self.runs = len(models)
        alone = self.runs == 1
        self.net = models[0] if alone else _stacked(list(models), copy.deepcopy(models[0]))

    def forward(self, x: Tensor) -> Tensor:
        return self._through(self.net, x)

    def scores(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Logits, and (R, B) norms of the features (NaN without `features` and `head`)."""
        if not (hasattr(self.net, "features") and hasattr(self.net, "head")):
            logits = self(x)
            return logits, torch.full_like(logits[..., 0], float("nan"))
        features = self._through(self.net.features, x)
        return self._through(self.net.head, features), features.norm(dim=-1)

    def head_norms(self, gradient: bool = False) -> Tensor:
        """(R,) Euclidean norm of the last linear layer's weights, or of their gradient.

        NaN where there is no such layer.
        """
        likes = [(module, getattr(module, "like", [module])[0]) for module in self.net.modules()]
        linear = [module for module, like in likes if isinstance(like, nn.Linear)]
        head = getattr(self.net, "head", linear[-1] if linear else None)
        if head is None:
            return torch.full((self.runs,), float("nan"))
        weight = head.weight.grad if gradient else head.weight.detach()
        return weight.reshape(self.runs, -1).norm(dim=1)

    def states(self) -> list[dict[str, Tensor]]:
        """Per run the weights and running statistics, under the names of its own model."""
        state = self.net.state_dict()
        if self.runs == 1:
            return [state]
        return [{name: t[run].clone() for name, t in state.items()} for run in range(self.runs)]

    def _through(self, part: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        return part(x.squeeze(0)).unsqueeze(0) if self.runs == 1 else part(x)


def side_by_side(tensors: Sequence[Tensor]) -> Tensor:
    """One tensor with the runs in front; a single one is not copied."""
    return tensors[0][None] if len(tensors) == 1 else torch.stack(list(tensors))


def _stacked(models: list[nn.Module], copied: nn.Module) -> nn.Module:
    layer = STACKED.get(type(models[0]))
    if layer is not None:
        return layer(models)
    if isinstance(copied, Classifier):
        copied.sides = None  # its check reads shapes of one model
    for name, child in list(copied.named_children()):
        children = [getattr(model, name) for model in models]
        setattr(copied, name, _stacked(children, child))
    return copied


class _Layer(nn.Module):
    """Holds, per parameter and buffer of the layers, one tensor with the runs in front."""

    def __init__(self, layers: list[nn.Module]):
        super().__init__()
        self.runs, self.like = len(layers), [layers[0]]  # in a list: no submodule of ours
        for name, first in layers[0].named_parameters():
            joint = torch.stack([layer.get_parameter(name).detach() for layer in layers])
            self.register_parameter(name, nn.Parameter(joint, requires_grad=first.requires_grad))
        for name, _ in layers[0].named_buffers():
            self.register_buffer(name, torch.stack([layer.get_buffer(name) for layer in layers]))


class _Linear(_Layer):
    def forward(self, x: Tensor) -> Tensor:
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
        flat = x.transpose(0, 1).flatten(1) if dense else x
        if self.training and self.track:
            self.num_batches_tracked += 1
        means, variances = (self.running_mean, self.running_var) if self.track else (None, None)
        out = functional.batch_norm(
            flat,
            None if means is None else means.view(-1),
            None if variances is None else variances.view(-1),
            self.weight.flatten() if like.affine else None,
            self.bias.flatten() if like.affine else None,
            self.training or not self.track,
            like.momentum,
            like.eps,
        )
        return out.unflatten(1, (self.runs, -1)).transpose(0, 1) if dense else out

    @property
    def track(self) -> bool:
        return self.like[0].track_running_stats


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
}


def _images(x: Tensor) -> Tensor:
    """(R, B, C, H, W) inputs as (B, R * C, H, W); later layers have that already."""
    if x.ndim == 4:
        return x
    side_by_side = x.transpose(0, 1).flatten(1, 2)
    last = torch.channels_last if x.device.type == "cpu" else torch.contiguous_format
    return side_by_side.contiguous(memory_format=last)


def _dense(x: Tensor, runs: int) -> Tensor:
    """(B, R * features, ...) or (R, B, ...) inputs as (R, B, features)."""
    if x.ndim in (2, 4):
        return x.flatten(1).unflatten(1, (runs, -1)).transpose(0, 1)
    return x.flatten(2)
