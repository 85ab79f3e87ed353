"""Readers of image formats: CIFAR's pickles, idx, mat, STL's binaries, npy, folders of pictures."""

from __future__ import annotations

import gzip
import hashlib
import io
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor
from torchvision.datasets import CIFAR10, SVHN
from tqdm import tqdm

from data_scripts import archives
from data_scripts.source import ArchiveError, Parsed

CLASSES = (  # of CIFAR-10
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip
SEVERITIES = 5
# Whatever a file is called: Pillow passes an EPS on to Ghostscript, a program of its own.
FORMATS = ("JPEG", "PNG")
PEOPLE = {
    "clean": "clean_label", "aggregate": "aggre_label", "random1": "random_label1",
    "random2": "random_label2", "random3": "random_label3", "worst": "worse_label",
}  # fmt: skip
# All that an array needs to be unpickled. Under the name that numpy 1 used, too.
_ARRAY_PARTS = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
}


class ArraysOnly(pickle.Unpickler):
    """Unpickles numbers, text, lists, dictionaries and arrays; anything else is refused."""

    def find_class(self, module: str, name: str):
        if (module, name) == ("_codecs", "encode"):  # how Python 3 writes bytes for Python 2
            return _encode_latin1
        if (module, name) not in _ARRAY_PARTS:
            raise pickle.UnpicklingError(f"the pickle asks for {module}.{name}")
        return _ARRAY_PARTS[module, name]


def _encode_latin1(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"the pickle asks for the codec {encoding!r}")
    return text.encode(encoding)


def unpickle(content: bytes) -> dict:
    """A dictionary of plain values and arrays, strings of Python 2 included."""
    return ArraysOnly(io.BytesIO(content), encoding="latin1").load()


def cifar(published: type[CIFAR10], labels: str, files: Mapping[str, Path]) -> Parsed:
    """CIFAR's pickled batches in a tar archive, as torchvision names them: rows of 3 x 32 x 32."""
    (path,) = files.values()
    parts = {
        which: [name for name, _ in batches]
        for which, batches in (("train", published.train_list), ("test", published.test_list))
    }
    meta = published.meta["filename"]
    wanted = {*parts["train"], *parts["test"], meta}
    found = {_last(n): unpickle(c) for n, c in archives.members(path, lambda n: _last(n) in wanted)}
    if missing := wanted - set(found):
        raise ArchiveError(f"{path} holds no {', '.join(sorted(missing))}")

    def split(batches: Sequence[str]) -> dict[str, Tensor]:
        images = np.concatenate([found[batch]["data"].reshape(-1, 3, 32, 32) for batch in batches])
        targets = [label for batch in batches for label in found[batch][labels]]
        return {"inputs": torch.from_numpy(images), "labels": torch.tensor(targets)}

    splits = ((which, split(batches)) for which, batches in parts.items())
    return Parsed(found[meta][published.meta["key"]], splits)


def mnist(classes: Sequence[str], files: Mapping[str, Path]) -> Parsed:
    """Gzipped idx files, two per split: heads of 16 and of 8 bytes, then pixels and labels."""

    def bytes_of(name: str, head: int) -> Tensor:
        plain = gzip.decompress(files[f"{name}-ubyte.gz"].read_bytes())
        return torch.from_numpy(np.frombuffer(plain, np.uint8, offset=head).copy())

    def split(prefix: str) -> dict[str, Tensor]:
        images = bytes_of(f"{prefix}-images-idx3", 16).view(-1, 1, 28, 28)
        return {"inputs": images, "labels": bytes_of(f"{prefix}-labels-idx1", 8).long()}

    parts = (("train", "train"), ("test", "t10k"))
    present = [(which, p) for which, p in parts if f"{p}-images-idx3-ubyte.gz" in files]
    return Parsed(classes, ((which, split(prefix)) for which, prefix in present))


def svhn(files: Mapping[str, Path]) -> Parsed:
    """Two Matlab files, read by torchvision (which calls the digit 0 class 0, not 10)."""

    def split(which: str) -> dict[str, Tensor]:
        stored = SVHN(files[f"{which}_32x32.mat"].parent, split=which)
        return {"inputs": torch.from_numpy(stored.data), "labels": torch.from_numpy(stored.labels)}

    return Parsed(tuple("0123456789"), ((s, split(s)) for s in ("train", "test")))


def stl10(files: Mapping[str, Path]) -> Parsed:
    """Binary files in a tar archive: pixels column by column, labels from 1."""
    (path,) = files.values()

    def stored(name: str) -> np.ndarray:
        return np.frombuffer(archives.read(path, f"stl10_binary/{name}.bin"), dtype=np.uint8)

    def split(which: str) -> dict[str, Tensor]:
        images = stored(f"{which}_X").reshape(-1, 3, 96, 96).transpose(0, 1, 3, 2)
        labels = torch.from_numpy(stored(f"{which}_y").astype(np.int64) - 1)
        return {"inputs": torch.from_numpy(np.ascontiguousarray(images)), "labels": labels}

    names = archives.read(path, "stl10_binary/class_names.txt").decode().split()
    return Parsed(names, ((which, split(which)) for which in ("train", "test")))


def corrupted_cifar(files: Mapping[str, Path]) -> Parsed:
    """CIFAR-10-C: an npy file per corruption, the five severities one after the other."""
    (path,) = files.values()
    labels = _array(archives.read(path, "CIFAR-10-C/labels.npy"))

    def splits() -> Iterator[tuple[str, dict[str, Tensor]]]:
        for name, content in archives.members(path, lambda n: n.endswith(".npy")):
            corruption = Path(name).stem
            if corruption == "labels":
                continue
            images = _array(content).permute(0, 3, 1, 2)
            parts = zip(images.chunk(SEVERITIES), labels.chunk(SEVERITIES), strict=True)
            for severity, (some, targets) in enumerate(parts, start=1):
                yield f"{corruption}-{severity}", {"inputs": some, "labels": targets}

    return Parsed(CLASSES, splits())


def human_labels(files: Mapping[str, Path]) -> Parsed:
    """CIFAR-10N: a dictionary of label arrays, loaded with `weights_only=True`."""
    (path,) = files.values()
    content = archives.read(path, "CIFAR-N/CIFAR-10_human.pt")
    dtypes = [type(np.dtype(kind)) for kind in ("int64", "int32", "uint8")]
    parts = [(part, ".".join(name)) for name, part in _ARRAY_PARTS.items()]
    with torch.serialization.safe_globals([*parts, *dtypes]):
        stored = torch.load(io.BytesIO(content), weights_only=True)
    splits = ((ours, {"labels": torch.as_tensor(stored[key])}) for ours, key in PEOPLE.items())
    return Parsed(CLASSES, splits)


def tiny_imagenet(files: Mapping[str, Path]) -> Parsed:
    """64-pixel pictures; the published validation images serve as test (the test has no labels)."""
    (path,) = files.values()
    wnids, words, table = (
        archives.read(path, f"tiny-imagenet-200/{name}.txt").decode().splitlines()
        for name in ("wnids", "words", "val/val_annotations")
    )
    names = dict(line.split("\t", 1) for line in words)
    of_test_file = dict(line.split("\t")[:2] for line in table)

    def split(folder: str, wnid_of: Callable[[str], str]) -> dict[str, Tensor]:
        found = _pictures(path, lambda n: n.split("/")[1] == folder and _is_picture(n), 64)
        return _stack([(wnids.index(wnid_of(name)), image) for name, image in found])

    def splits() -> Iterator[tuple[str, dict[str, Tensor]]]:
        yield "train", split("train", lambda name: name.split("/")[2])
        yield "test", split("val", lambda name: of_test_file[_last(name)])

    return Parsed([names[wnid] for wnid in wnids], splits())


def folders(files: Mapping[str, Path], *, depth: int, pixels: int) -> Parsed:
    """Pictures whose class is the name of their folder at `depth`; a fixed tenth is the test.

    The tenth: the names with the smallest SHA-256, which no library's random numbers can change.
    """
    (path,) = files.values()
    found = list(_pictures(path, _is_picture, pixels))
    found.sort(key=lambda item: hashlib.sha256(item[0].encode()).digest())
    classes = sorted({name.split("/")[depth] for name, _ in found})
    samples = [(classes.index(name.split("/")[depth]), image) for name, image in found]
    tenth = len(samples) // 10
    parts = (("train", samples[tenth:]), ("test", samples[:tenth]))
    return Parsed(classes, ((split, _stack(part)) for split, part in parts))


def _pictures(
    path: Path, wanted: Callable[[str], bool], pixels: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Name and (3, pixels, pixels) bytes of each picture: shrunk by area, its middle kept."""
    size = (pixels, pixels)
    for name, content in tqdm(archives.members(path, wanted), unit="picture", mininterval=1):
        with Image.open(io.BytesIO(content), formats=FORMATS) as picture:
            picture.draft(None, (2 * pixels, 2 * pixels))  # a JPEG shrinks while it is decoded
            square = ImageOps.fit(picture.convert("RGB"), size, method=Image.Resampling.BOX)
        yield name, np.asarray(square).transpose(2, 0, 1)


def _stack(samples: Sequence[tuple[int, np.ndarray]]) -> dict[str, Tensor]:
    images = np.stack([image for _, image in samples])
    labels = torch.tensor([label for label, _ in samples])
    return {"inputs": torch.from_numpy(images), "labels": labels}


def _is_picture(name: str) -> bool:
    return name.lower().endswith((".jpg", ".jpeg", ".png")) and not _last(name).startswith(".")


def _last(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _array(content: bytes) -> Tensor:
    return torch.from_numpy(np.load(io.BytesIO(content), allow_pickle=False))
