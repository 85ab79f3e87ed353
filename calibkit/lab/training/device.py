"""Which device trains, and what a training changes there for its whole process and puts back."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from calibkit.threads import one_thread

WIDE = 16  # channels from which channels_last is taken on an accelerator
SMALL = 1_000_000  # dense parameters below which a second CPU thread costs more than it brings
SMALL_STACK = 100_000  # the same for a stack, whose every operation has more to do

# glibc's mallopt: M_MMAP_MAX, M_TRIM_THRESHOLD and M_MMAP_THRESHOLD, while a model trains and after
# it; the last are the upper ends of what glibc itself would have come to
KEEPING = {-4: 0, -1: 2**31 - 1}
RETURNING = {-4: 65_536, -1: 2**26, -3: 2**25}


def as_device(device: str | torch.device | None) -> torch.device:
    """The named device; None or "auto" stands for the best one here: CUDA, Apple's GPU, the CPU."""
    if device is None or device == "auto":
        backends = (("cuda", torch.cuda), ("mps", torch.backends.mps))
        return torch.device(next((kind for kind, one in backends if one.is_available()), "cpu"))
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device {str(device)!r} is not usable here ({reason}); write 'auto' or 'cpu'"
        ) from None
    return chosen


def bfloat16_on_cpu() -> bool:
    """Whether this CPU computes in bfloat16 itself: elsewhere torch emulates it, ten times slower.

    False where this torch cannot tell.
    """
    known: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(bool(on) for name, on in known.items() if name.endswith("bf16"))


def memory_format(model: nn.Module, device: torch.device) -> torch.memory_format:
    """channels_last for convolutions on a CPU, up to half faster, and for wide ones elsewhere."""
    narrowest = 1 if device.type == "cpu" else WIDE
    convolutions = [module for module in model.modules() if isinstance(module, nn.Conv2d)]
    fits = any(c.in_channels >= narrowest and c.groups == 1 for c in convolutions)
    return torch.channels_last if fits else torch.contiguous_format


def own_randomness(device: torch.device):
    """A context after which the global random state is as before, also that of a CUDA `device`."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


def seed_globally(seed: int, device: torch.device) -> None:
    """Start the global random state anew, as initial weights and dropout draw from it."""
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)  # and leaves CUDA's state alone
    else:
        torch.manual_seed(seed)


@contextlib.contextmanager
def prepared(network: nn.Module, device: torch.device, runs: int = 1) -> Iterator[None]:
    """The CPU's threads and memory as they suit a network of so many stacked runs; then as before.

    A small dense network gets one thread: more would spend their time waiting. What a step frees
    stays with the process: given back, it would cost the next step a page fault per 4 KiB, up to
    half of the time of a stack of convolutional networks.
    """
    if device.type != "cpu":
        yield
        return
    _tell_allocator(KEEPING)
    try:
        with one_thread(not _takes_threads(network, runs)):
            yield
    finally:
        _tell_allocator(RETURNING)


def _tell_allocator(settings: dict[int, int]) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for parameter, value in settings.items():
            mallopt(parameter, value)


def _takes_threads(network: nn.Module, runs: int) -> bool:
    enough = SMALL if runs == 1 else SMALL_STACK
    weights = list(network.parameters())
    convolves = any(weight.ndim > 3 for weight in weights)  # dense ones have 3 where they stack
    return convolves or sum(weight.numel() for weight in weights) >= enough


def torch_settings() -> str:
    """What is set for all of torch, and changes the numbers of a training."""
    backends: Any = torch.backends
    cudnn, mkldnn = backends.cudnn, backends.mkldnn
    if hasattr(cudnn, "conv"):
        # by these and not by older names (allow_tf32), which raise where somebody set these
        parts = [backends.cuda.matmul, cudnn.conv, cudnn.rnn]
        parts += [mkldnn.matmul, mkldnn.conv, mkldnn.rnn]
        precise = [part.fp32_precision for part in parts]
    else:  # torch 2.6 has the older names alone
        precise = [torch.get_float32_matmul_precision(), cudnn.allow_tf32]
    settings = [torch.get_default_dtype(), torch.get_default_device(), torch.is_grad_enabled()]
    settings += [torch.is_inference_mode_enabled(), torch.are_deterministic_algorithms_enabled()]
    settings += [cudnn.deterministic, cudnn.benchmark, *precise]
    for kind in ("cpu", "cuda", "mps"):
        settings += [torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)]
    return str(settings)


def same_type(model: nn.Module, inputs: Tensor) -> None:
    """Refuse inputs of another floating type than the model's weights, for which torch has none."""
    weights = next((one.dtype for one in model.parameters() if one.is_floating_point()), None)
    if weights is not None and inputs.is_floating_point() and inputs.dtype != weights:
        raise TypeError(
            f"model has weights of {weights} and the inputs are {inputs.dtype}; "
            f"write model.to({inputs.dtype})"
        )
