"""Which device trains a model, and how its images lie there."""

from __future__ import annotations

import torch
from torch import nn

WIDE = 16  # channels from which channels_last is taken on an accelerator


def best_device() -> torch.device:
    """CUDA if there is one, else an Apple GPU, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def as_device(device: str | torch.device | None) -> torch.device:
    """The named device; None or "auto" stands for the best one here."""
    if device is None or device == "auto":
        return best_device()
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
    told = getattr(torch.cpu, "get_capabilities", dict)()
    return any(bool(on) for name, on in told.items() if name.endswith("bf16"))


def memory_format(model: nn.Module, device: torch.device) -> torch.memory_format:
    """channels_last for convolutions on a CPU, up to half faster, and for wide ones elsewhere."""
    narrowest = 1 if device.type == "cpu" else WIDE
    convolutions = [module for module in model.modules() if isinstance(module, nn.Conv2d)]
    fits = any(c.in_channels >= narrowest and c.groups == 1 for c in convolutions)
    return torch.channels_last if fits else torch.contiguous_format
