"""A deployed network on files of your own: what type a file has, by its bytes and by its ending.

magika (Fratantonio et al. 2024; Apache 2) names one of 214 types. Its public call returns one
score; a temperature needs all of them, so its ONNX network is called here. Only folders that are
named are walked; endings, sizes and scores are taken, and nothing is written anywhere.
`python -m calibkit.course.experiments.file_types` walks this Python and keeps the scores for
lesson 17 (see `notebooks/results/real/NOTICE.txt`).
"""

from __future__ import annotations

import functools
import html
import json
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calibkit.course import checkout

FILE = "magika_python.npz"
HEAD, BLOCK, NOTHING = 1024, 4096, 256  # bytes seen of each end, where they begin, no byte
TEMPERATURES = np.round(np.geomspace(0.5, 4, 25), 2)
PYTHON = (Path(sys.prefix), Path(sysconfig.get_paths()["stdlib"]))


class Answers(NamedTuple):
    """What the network says of n files.

    said, meant: (n,) names of types, by the network and by the ending. temperatures: (t,).
    confidence, nll: (t, n) at each temperature, the nll of the type that the ending names.
    trusted: (n,) whether the score reaches the makers' threshold. size: (n,) bytes.
    paths: the files; none of a stored walk.
    """

    said: np.ndarray
    meant: np.ndarray
    temperatures: np.ndarray
    confidence: np.ndarray
    nll: np.ndarray
    trusted: np.ndarray
    size: np.ndarray
    paths: tuple[Path, ...] = ()

    @property
    def right(self) -> np.ndarray:
        return self.said == self.meant


class Network(NamedTuple):
    """session: of the ONNX runtime. types: (K,). meant: the type of an ending. threshold: (K,)."""

    session: Any
    types: np.ndarray
    meant: dict[str, str]
    threshold: np.ndarray


@functools.cache
def network() -> Network:
    """The network of the installed magika; raises ImportError, with the remedy, without it."""
    try:
        import magika
        import onnxruntime
    except ImportError as error:
        remedy = "python -m pip install magika"
        raise ImportError(f"{error.name} is not installed: {remedy}, or take stored()") from error
    folder = Path(magika.__file__).parent
    model = max(folder.glob("models/standard_*"))
    about = json.loads((model / "config.min.json").read_text("utf-8"))
    known = json.loads((folder / "config/content_types_kb.min.json").read_text("utf-8"))
    types, usual = about["target_labels_space"], about["medium_confidence_threshold"]
    pairs = {(end.lower(), name) for name in types for end in known[name]["extensions"]}
    ends = [end for end, _ in pairs]
    meant = {end: name for end, name in pairs if ends.count(end) == 1}  # "pl": perl, prolog
    threshold = np.array([about["thresholds"].get(name, usual) for name in types])
    session = onnxruntime.InferenceSession(str(model / "model.onnx"))
    return Network(session, np.array(types), meant, threshold)


def scores(contents: Iterable[bytes]) -> np.ndarray:
    """(n, K) probabilities of the types, from the first and the last bytes of each content."""
    rows = []
    for content in contents:
        row = np.full(2 * HEAD, NOTHING, dtype=np.int32)
        head, tail = content[:BLOCK].lstrip()[:HEAD], content[-BLOCK:].rstrip()[-HEAD:]
        row[: len(head)] = list(head)
        row[2 * HEAD - len(tail) :] = list(tail)
        rows.append(row)
    parts = [np.stack(rows[k : k + 64]) for k in range(0, len(rows), 64)]
    return np.concatenate([network().session.run(None, {"bytes": part})[0] for part in parts])


def found(folders: Iterable[Path | str], most: int = 40, seed: int = 0) -> list[Path]:
    """Files below `folders` whose ending names one type, at most `most` of an ending."""
    meant, by_ending = network().meant, dict[str, list[Path]]()
    for path in sorted(
        {path for folder in folders for path in Path(folder).expanduser().rglob("*.*")}
    ):
        ending = path.suffix[1:].lower()
        if ending in meant and path.is_file() and path.stat().st_size >= 64:
            by_ending.setdefault(ending, []).append(path)
    chance = np.random.default_rng(seed)
    return [
        paths[place]
        for paths in by_ending.values()
        for place in chance.permutation(len(paths))[:most]
    ]


def walk(
    folders: Iterable[Path | str] = PYTHON, first: int | None = None, most: int = 40
) -> Answers:
    """The answers on the files of `folders`, from whole files or from their `first` bytes."""
    return answers(found(folders, most), first)


def answers(paths: Iterable[Path], first: int | None = None) -> Answers:
    """The answers on `paths`; raises ValueError where no file is."""
    paths = tuple(paths)
    if not paths:
        raise ValueError("folders must hold files whose ending names one type, found none")
    probs = scores(_read(path, first) for path in paths)
    meant = np.array([network().meant[path.suffix[1:].lower()] for path in paths])
    label = (network().types == meant[:, None]).argmax(axis=1)
    logits = np.log(np.maximum(probs.astype(float), 1e-30))
    confidence, nll = [], []
    for T in TEMPERATURES:
        law = np.exp((logits - logits.max(axis=1, keepdims=True)) / T)
        law /= law.sum(axis=1, keepdims=True)
        confidence.append(law.max(axis=1))
        nll.append(-np.log(law[np.arange(len(law)), label]))
    best = probs.argmax(axis=1)
    return Answers(
        network().types[best],
        meant,
        TEMPERATURES,
        np.array(confidence),
        np.array(nll),
        probs.max(axis=1) >= network().threshold[best],
        np.array([path.stat().st_size for path in paths]),
        paths,
    )


def _read(path: Path, first: int | None) -> bytes:
    content = path.read_bytes()
    return content if first is None else content[:first]


def look(said: Answers, chars: int = 600) -> None:
    """Show a slider over the surest mistakes of a walk: name, answer, and how the file begins."""
    from IPython.display import HTML
    from ipywidgets import IntSlider, interact

    sure = said.confidence[abs(said.temperatures - 1).argmin()]
    wrong = [k for k in np.argsort(-sure) if not said.right[k]]

    def page(place: int) -> HTML:
        k = wrong[place]
        text = _read(said.paths[k], chars).decode("utf-8", errors="replace")
        head = f"{said.paths[k].name}: {said.said[k]}, {sure[k]:.1%} sure"
        return HTML(f"<b>{html.escape(head)}</b><pre>{html.escape(text)}</pre>")

    interact(page, place=IntSlider(max=max(len(wrong) - 1, 0), description="mistake"))


def stored() -> Iterator[Answers]:
    """Two walks over a Python installation: of whole files, and of their first 64 bytes."""
    with np.load(checkout.results() / "real" / FILE) as file:
        for part in ("whole", "first"):
            yield Answers(*(file[f"{part}_{name}"] for name in Answers._fields[:-1]))


def keep(folders: Iterable[Path | str]) -> None:
    """Write the walks that `stored` reads."""
    paths = found(folders)
    arrays: dict[str, Any] = {}
    value: Any
    for part, first in {"whole": None, "first": 64}.items():
        for name, value in zip(Answers._fields[:-1], answers(paths, first), strict=False):
            arrays[f"{part}_{name}"] = value.astype(np.float16) if value.ndim == 2 else value
    np.savez_compressed(checkout.results() / "real" / FILE, **arrays)


if __name__ == "__main__":
    keep(sys.argv[1:] or PYTHON)
