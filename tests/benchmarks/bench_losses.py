"""Focal losses, forward and backward, as multiples of torch's cross-entropy.

The calls take turns and each row compares the best of many: at 1024 x 1000 the median measures
whether the allocator had to page in fresh 4 MB buffers, a matter of luck that outweighs the work.
"""

import time

import torch
import torch.nn.functional as F

from calibkit import losses

from .timing import Row

SIZES = (((128, 10), 4, 300), ((1024, 1000), 4, 60))
LOSSES = {
    "cross_entropy": F.cross_entropy,
    "FLSD-53": losses.flsd,
    "focal, gamma 3": lambda logits, target: losses.focal(logits, target, gamma=3.0),
}


def rows():
    for (n, classes), ceiling, turns in SIZES:
        logits, target = _batch(n, classes)
        steps = [_step(loss, logits, target) for loss in LOSSES.values()]
        plain, *ours = _best_ms(steps, turns, loops=max(1, 2000 // n))
        for name, spent in zip(list(LOSSES)[1:], ours, strict=True):
            work = f"{name}, {n} x {classes}, both ways"
            yield Row(work, "torch cross_entropy", spent / plain, ceiling, "lower", spent)


def _best_ms(calls, turns, loops):
    spent = [[] for _ in calls]
    for _ in range(turns):
        for call, times in zip(calls, spent, strict=True):
            start = time.process_time()
            for _ in range(loops):
                call()
            times.append((time.process_time() - start) * 1e3 / loops)
    return [min(times) for times in spent]


def _batch(n, classes):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(n, classes, generator=generator).mul_(2).requires_grad_()
    return logits, torch.randint(classes, (n,), generator=generator)


def _step(loss, logits, target):
    def step():
        logits.grad = None
        loss(logits, target).backward()

    return step
