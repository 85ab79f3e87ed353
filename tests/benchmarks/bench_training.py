"""The training engine against a plain PyTorch loop, and sweeps against one fit after the other.

Wall time, since threads and processes are the matter; medians of interleaved runs. The plain loop
is what most tutorials show: a dataset that hands out PIL images, torchvision's transforms one image
at a time, a DataLoader, SGD. Both sides may use all threads that they want. A target is the least
that runs on two quiet cores gave, less a tenth; on a busy machine, wall times say nothing.
"""

import time
from functools import partial

import numpy as np
import torch
from PIL import Image
from torch.nn import functional
from torch.utils.data import DataLoader
from torch.utils.data import Dataset as TorchDataset
from torchvision import transforms

from calibkit import augmentation, curation
from calibkit.lab import data, models, sweep, training
from calibkit.lab.training import device
from tests.benchmarks.timing import against

IMAGES, BATCH, THREADS = 2_048, 128, 2
by_the_clock = partial(against, timer=time.perf_counter)
MEAN, STD = (0.49, 0.48, 0.45), (0.25, 0.24, 0.26)


def rows():
    torch.set_num_threads(THREADS)
    pixels, labels = _pixels()
    plain, ours = Plain(pixels, labels), _resident(pixels, labels)
    for name, target, model in (
        ("LeNet-5", 2, models.lenet5(3, 10)),
        ("ResNet-8", 1.2, models.resnet(8)),
    ):
        work, peer = f"epoch of {name}, 32 px", "plain PyTorch loop"
        yield by_the_clock(work, peer, target, _epoch(model, ours), _plain_epoch(model, plain))
    yield from _sweeps()


def _sweeps():
    """25 runs: five noise rates, five seeds."""
    digits = data.noisy_digits(1_500, seed=0, test=100, calibration=100).train
    for name, target, how, times, network, epochs in (
        ("MLP 2 x 64", 2.5, "stacked", 1, lambda: models.mlp(64, 10, width=64), 12),
        ("MLP 2 x 256", 1.15, "stacked", 1, lambda: models.mlp(64, 10), 12),
        ("CNN, 16 px", 1.1, "stacked", 2, lambda: models.cnn(1, 10, width=8), 4),
        ("LeNet-5, 32 px", 1.05, "auto", 4, lambda: models.lenet5(1, 10), 6),
    ):
        inputs = functional.interpolate(digits.inputs, scale_factor=times)
        trials = [
            training.trial(
                network, data.Dataset(inputs, noisy.labels, digits.classes), epochs=epochs, seed=s
            )
            for rate in (0.0, 0.1, 0.2, 0.3, 0.4)
            for s in range(5)
            for noisy in [curation.symmetric_noise(digits.labels, rate, classes=10, seed=s)]
        ]
        ours, work = _sweep(trials, how), f"25 runs of {name}, {how}"
        yield by_the_clock(
            work, "one fit after the other", target, ours, _one_by_one(trials), repeats=3
        )


def _pixels():
    generator = np.random.default_rng(0)
    pixels = generator.integers(0, 256, (IMAGES, 32, 32, 3), dtype=np.uint8)
    return pixels, generator.integers(0, 10, IMAGES)


class Plain(TorchDataset):
    """Images as torchvision's CIFAR-10 hands them out."""

    def __init__(self, pixels, labels):
        self.pixels, self.labels = pixels, labels
        self.transform = transforms.Compose(
            [
                transforms.RandomCrop(32, padding=4),
                transforms.RandomHorizontalFlip(),
                transforms.ToTensor(),
                transforms.Normalize(MEAN, STD),
            ]
        )

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.transform(Image.fromarray(self.pixels[i])), int(self.labels[i])


def _resident(pixels, labels):
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255
    images = (images - torch.tensor(MEAN)[:, None, None]) / torch.tensor(STD)[:, None, None]
    return data.Dataset(images.contiguous(), torch.from_numpy(labels), tuple("0123456789"))


def _epoch(model, dataset):
    recipe = training.Recipe(augment=augmentation.crop_flip, batch_size=BATCH, epochs=1)
    return lambda: training.fit(model, dataset, recipe, device="cpu", progress=False)


def _plain_epoch(model, dataset):
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)

    def epoch():
        total = 0.0
        for images, labels in DataLoader(dataset, BATCH, shuffle=True):
            loss = functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total

    return epoch


def _sweep(trials, how):
    settings = [{"i": i} for i in range(len(trials))]
    return lambda: sweep.run(
        lambda i: trials[i], settings, device="cpu", cache=False, progress=False, how=how
    )


def _one_by_one(trials):
    """As one would write it: fit after fit, on all threads."""

    def inner():
        chosen, device._takes_threads = device._takes_threads, lambda *_: True
        try:
            for t in trials:
                training.fit(t.model, t.train, t.recipe, seed=t.seed, device="cpu", progress=False)
        finally:
            device._takes_threads = chosen

    return inner
