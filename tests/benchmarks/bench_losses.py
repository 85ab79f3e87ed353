"""Focal losses, forward and backward, as multiples of torch's cross-entropy."""

import torch
import torch.nn.functional as F

from calibkit import losses

from .timing import Row, cpu_ms

SIZES = (((128, 10), 2.5), ((1024, 1000), 1.0))


def rows():
    for (n, classes), ceiling in SIZES:
        logits, target = _batch(n, classes)
        plain = cpu_ms(_step(lambda z, y: F.cross_entropy(z, y), logits, target), 9)
        for name, loss in (
            ("FLSD-53", losses.flsd),
            ("focal, gamma 3", lambda z, y: losses.focal(z, y, gamma=3.0)),
        ):
            ours = cpu_ms(_step(loss, logits, target), 9)
            work = f"{name}, {n} x {classes}, forward + backward"
            yield Row(work, "torch cross_entropy", ours / plain, ceiling, "lower", ours)


def _batch(n, classes):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(n, classes, generator=generator).mul_(2).requires_grad_()
    return logits, torch.randint(classes, (n,), generator=generator)


def _step(loss, logits, target):
    def step():
        logits.grad = None
        loss(logits, target).backward()

    return step
