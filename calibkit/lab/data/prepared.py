"""Real datasets as `python -m data_scripts NAME` left them: one memory-mapped file per split.

The form, and what is compared before a file is mapped: data_scripts/README.md. What is returned is
a copy: a file that is cut or changed later does no harm to it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from calibkit import validate
from calibkit.lab.data.dataset import Dataset, Splits

VERSION = 2
LARGE = 2**31  # bytes; hashing more would take many seconds
ABOUT = "about.json"
OFFSETS = "#offsets"
SELF_HASH = "sha256"
ROWS = 512  # images converted at a time: what is read stays in the processor's cache
Root = str | Path | None  # of all datasets; None is `default_root()`


@dataclass(frozen=True)
class Texts:
    """`n` labelled texts, or `n` sentences in several languages.

    columns: strings by name: "text", or a language such as "de".
    labels: (n,) int64, or None for translations.
    classes: the K class names.
    """

    columns: Mapping[str, tuple[str, ...]]
    labels: Tensor | None = None
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


def default_root() -> Path:
    """Where datasets are kept: the environment's CALIBKIT_DATA, else ~/.cache/calibkit."""
    return Path(os.environ.get("CALIBKIT_DATA") or Path.home() / ".cache" / "calibkit").expanduser()


def about(name: str, root: Root = None) -> dict:
    """What about.json says of a prepared dataset.

    Raises FileNotFoundError with the command that prepares it, ValueError for another version and
    for a text that is not the one that was written.
    """
    if not re.fullmatch(r"[a-z0-9_-]+", name):
        raise ValueError(f"name must be a dataset such as 'cifar10', got {name!r}")
    place = _place(name, root)
    if not (place / ABOUT).is_file():
        raise FileNotFoundError(f"{name} is not prepared in {place.parent}; {_remedy(name, root)}")
    try:
        facts = json.loads((place / ABOUT).read_bytes())
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        facts = {}  # which has no hash
    if facts.get("version", VERSION) != VERSION:
        raise ValueError(
            f"{name} in {place} has version {facts['version']}, this calibkit reads {VERSION}; "
            f"{_remedy(name, root)}"
        )
    if facts.get(SELF_HASH) != _hash_of(facts):
        raise ValueError(f"{place / ABOUT} was changed or damaged; {_remedy(name, root)}")
    return facts


def _hash_of(facts: Mapping) -> str:
    """SHA-256 of what about.json says, but for this hash itself."""
    rest = {key: value for key, value in facts.items() if key != SELF_HASH}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def load(
    name: str,
    *,
    split: str = "train",
    root: Root = None,
    device: str | torch.device = "cpu",
    normalise: bool = True,
    like: str | None = None,
    rows: Tensor | slice | None = None,
) -> Dataset:
    """One split of a prepared image dataset, as floats on `device`.

    x = (u / 255 - mean) / std per channel, with the statistics of the training images, or of the
    dataset `like` (SVHN shown to a network trained on CIFAR-10 wants like="cifar10");
    normalise=False leaves u / 255, which the corruptions want.

    rows: which images to take, all by default. The other images are never read.
    "cifar10n" has splits of labels alone ("worst", ...): their images are CIFAR-10's, and its
    "test" is CIFAR-10's, as that of "cifar10c" is.
    Raises FileNotFoundError for a dataset that is not prepared, ValueError for an unknown split or
    a file that is not what was prepared.
    """
    columns = _columns(name, split, root)
    images = columns if "inputs" in columns else _images_of(name, root)
    statistics = channel_statistics(like or name, root) if normalise else None
    rows = slice(None) if rows is None else rows
    inputs = _floats(images["inputs"][rows].to(device), statistics)
    labels = columns["labels"][rows].to(device, copy=True)  # not a view of the file
    return Dataset(inputs, labels, tuple(about(name, root)["classes"]))


def load_text(name: str, *, split: str = "train", root: Root = None) -> Texts:
    """One split of a prepared text dataset; raises as `load` does."""
    columns = _columns(name, split, root)
    texts = [column.removesuffix(OFFSETS) for column in columns if column.endswith(OFFSETS)]
    if not texts:
        raise ValueError(f"{name} holds images, not text; read it with data.load({name!r})")
    strings = {}
    for column in texts:
        everything, offsets = columns[column].numpy().tobytes(), columns[column + OFFSETS].tolist()
        strings[column] = tuple(everything[a:b].decode() for a, b in pairwise(offsets))
    labels = columns["labels"].clone() if "labels" in columns else None
    return Texts(strings, labels, tuple(about(name, root)["classes"]))


def splits_of(
    name: str,
    seed: int = 0,
    *,
    train: int | None = None,
    calibration: int = 5_000,
    test: int | None = None,
    train_split: str = "train",
    test_split: str | None = "test",
    root: Root = None,
    device: str | torch.device = "cpu",
    normalise: bool = True,
) -> Splits:
    """Train, calibration and test images that share none.

    The training images are shuffled by `seed`; `train` of them (all that are left) train,
    `calibration` others calibrate. The test images are the dataset's own, the first `test` of a
    shuffle when a number is given; test_split=None cuts `test` of the training images instead.
    The defaults give the papers' 45,000 / 5,000 / 10,000 of CIFAR-10.
    Raises ValueError when the parts are larger than what there is.
    """
    generator = validate.generator(seed)
    n = _length(name, train_split, root)
    cut = 0 if test_split else validate.integer("test", test, 1, n - 2)
    calibration = validate.integer("calibration", calibration, 1, n - cut - 1)
    rest = n - cut - calibration
    train = rest if train is None else validate.integer("train", train, 1, rest)
    order = torch.randperm(n, generator=generator)
    parts = list(order[: train + calibration + cut].split([train, calibration, cut]))
    if test_split:
        available = _length(name, test_split, root)
        test = available if test is None else validate.integer("test", test, 1, available)
        parts[2] = torch.randperm(available, generator=generator)[:test]
    load_rows = functools.partial(load, name, root=root, device=device, normalise=normalise)
    wanted = zip((train_split, train_split, test_split or train_split), parts, strict=True)
    # in stored order: a mapped file is read from front to back, and which image comes first in an
    # epoch is the training's business
    return Splits(*(load_rows(split=s, rows=part.sort().values) for s, part in wanted))


def channel_statistics(name: str, root: Root = None) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each channel of the training images, in [0, 1].

    Raises ValueError for a dataset that has no training images.
    """
    info = about(name, root)
    if info["statistics"] is None and info["base"]:
        return channel_statistics(info["base"][0], root)
    if info["statistics"] is None:
        raise ValueError(
            f"{name} has no training images to take the statistics from; name the dataset that "
            f"the model was trained on, such as like='mnist', or pass normalise=False"
        )
    mean, std = (torch.tensor(info["statistics"][which]) for which in ("mean", "std"))
    return mean, std


def write(
    folder: Path,
    splits: Iterable[tuple[str, Mapping[str, Tensor | Sequence[str]]]],
    classes: Sequence[str],
    facts: Mapping,
) -> dict:
    """Write splits and about.json into an empty `folder`; returns what about.json says.

    facts: what else to remember. "base", a dataset and its split, says whose images, statistics and
    other splits serve where this dataset has none of its own.
    Raises ValueError for columns of different lengths or labels outside the classes.

    >>> from tempfile import TemporaryDirectory
    >>> dots = {"inputs": torch.tensor([[[[0]]], [[[255]]]], dtype=torch.uint8), "labels": [0, 1]}
    >>> with TemporaryDirectory() as root:
    ...     folder = Path(root) / "dots" / "prepared"
    ...     folder.mkdir(parents=True)
    ...     _ = write(folder, [("train", dots)], ("black", "white"), {})
    ...     load("dots", root=root).inputs.flatten().tolist()  # (0 - .5) / .5 and (1 - .5) / .5
    [-1.0, 1.0]
    """
    stated = {"version": VERSION, "classes": list(classes), "base": None, **facts}
    stated |= {"statistics": None, "splits": {}}
    for split, columns in splits:
        tensors = _tensors(split, columns, len(classes))
        path = folder / f"{split}.pt"
        with open(path, "wb") as file:  # by Python, whose errors tell a full disk from others
            torch.save(tensors, file)
        n, size = len(next(iter(columns.values()))), path.stat().st_size
        stated["splits"][split] = {"n": n, "bytes": size, "sha256": sha256(path)}
        if split == "train" and "inputs" in tensors:
            stated["statistics"] = _measure(tensors["inputs"])
    stated[SELF_HASH] = _hash_of(stated)
    (folder / ABOUT).write_text(json.dumps(stated, indent=1) + "\n", encoding="utf-8")
    return stated


def damaged(name: str, root: Root = None) -> list[str]:
    """The splits whose file is not, byte for byte, the one that was prepared."""
    place, stated = _place(name, root), about(name, root)["splits"]
    return [
        split
        for split, file in stated.items()
        if not (place / f"{split}.pt").is_file() or sha256(place / f"{split}.pt") != file["sha256"]
    ]


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _place(name: str, root: Root) -> Path:
    return (default_root() if root is None else Path(root)) / name / "prepared"


def _remedy(name: str, root: Root) -> str:
    return f"in the folder of the course, run  python -m data_scripts {name}" + (
        "" if root is None else f" --root {root}"
    )


def _columns(name: str, split: str, root: Root) -> dict[str, Tensor]:
    """The mapped tensors of one split."""
    name = _owner(name, split, root)
    stated = about(name, root)["splits"][split]
    path = _place(name, root) / f"{split}.pt"
    if not _as_stated(path, stated):
        raise ValueError(
            f"{path} is not the file that was prepared ({stated['bytes']} bytes, sha256 "
            f"{stated['sha256'][:12]}...); {_remedy(name, root)}"
        )
    return torch.load(path, mmap=True, weights_only=True)


def _as_stated(path: Path, stated: Mapping) -> bool:
    """Whether a file has the size and, unless it is large, the hash that about.json states."""
    if not path.is_file() or path.stat().st_size != stated["bytes"]:
        return False
    large = stated["bytes"] > LARGE
    return large or _hash_since(path, path.stat().st_mtime_ns) == stated["sha256"]


@functools.cache
def _hash_since(path: Path, changed: int) -> str:
    """The SHA-256 of a file, taken once in a process after each time of change."""
    return sha256(path)


def _owner(name: str, split: str, root: Root) -> str:
    """The dataset that holds a split: the one asked, or its base."""
    info = about(name, root)
    if split not in info["splits"] and info["base"]:
        base = info["base"][0]
        if split in about(base, root)["splits"]:
            return base
    validate.choice("split", split, tuple(info["splits"]))
    return name


def _length(name: str, split: str, root: Root) -> int:
    return about(_owner(name, split, root), root)["splits"][split]["n"]


def _images_of(name: str, root: Root) -> dict[str, Tensor]:
    """The images that labels given by people belong to, once it is sure that they do."""
    info = about(name, root)
    if not info["base"]:
        raise ValueError(f"{name} holds text, not images; read it with data.load_text({name!r})")
    base, split = info["base"]
    images = _columns(base, split, root)
    if not torch.equal(images["labels"], _columns(name, "clean", root)["labels"]):
        raise ValueError(f"the clean labels of {name} are not those of {base}")
    return images


def _floats(raw: Tensor, statistics: tuple[Tensor, Tensor] | None) -> Tensor:
    """(u / 255 - mean) / std in float32."""
    channels = raw.shape[1]
    mean, std = statistics or (torch.zeros(channels), torch.ones(channels))
    if len(mean) != channels:
        raise ValueError(f"like must name images of {channels} channel(s), it has {len(mean)}")
    scale, shift = (v.view(-1, 1, 1).to(raw.device) for v in (1 / (255 * std), -mean / std))
    out = torch.empty(raw.shape, device=raw.device)
    for target, source in zip(out.split(ROWS), raw.split(ROWS), strict=True):
        target.copy_(source).mul_(scale).add_(shift)
    return out


def _measure(images: Tensor) -> dict[str, list[float]]:
    """Mean and standard deviation per channel, from counts of the 256 grey levels."""
    grey = torch.arange(256, dtype=torch.float64) / 255
    counts = torch.zeros(images.shape[1], 256, dtype=torch.float64)
    for part in images.split(4096):
        for channel, count in zip(part.unbind(1), counts, strict=True):
            count += channel.flatten().bincount(minlength=256)
    share = counts / counts.sum(dim=1, keepdim=True)
    mean = share @ grey
    std = (share @ grey.square() - mean.square()).sqrt()
    return {"mean": mean.tolist(), "std": std.tolist()}


def _tensors(split: str, columns: Mapping, classes: int) -> dict[str, Tensor]:
    """Columns as they are stored, all of one length."""
    lengths = {column: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) != 1 or not min(lengths.values()):
        raise ValueError(f"split {split!r} must have columns of one length, got {lengths}")
    tensors = {}
    for column, values in columns.items():
        if column == "labels":
            tensors[column] = validate.labels(values, n=len(values), classes=classes).clone()
        elif column == "inputs":
            if values.dtype != torch.uint8 or values.ndim != 4:
                shape = f"{values.dtype} {tuple(values.shape)}"
                raise TypeError(f"inputs must be uint8 (n, channels, height, width), got {shape}")
            tensors[column] = values.contiguous()
        else:
            encoded = [text.encode() for text in values]
            ends = torch.tensor([0, *map(len, encoded)]).cumsum(0)
            joined = np.frombuffer(b"".join(encoded), dtype=np.uint8).copy()
            tensors[column] = torch.from_numpy(joined)
            tensors[column + OFFSETS] = ends
    return tensors
