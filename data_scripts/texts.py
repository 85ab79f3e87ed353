"""Readers of text formats: lines with labels, newsgroup folders, sentiment trees, translations."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch

from data_scripts import archives
from data_scripts.source import ArchiveError, Parsed

LEAF = re.compile(r"\([0-4] ([^()]+)\)")
BRACKETS = {"-LRB-": "(", "-RRB-": ")"}
SEGMENT = re.compile(r"<seg id=[^>]*>(.*?)</seg>", re.DOTALL)
META = re.compile(r"</?(?:url|talkid|keywords|speaker|reviewer|translator|doc)\b")
TITLE = re.compile(r"</?(?:title|description)>")
LANGUAGES = ("de", "en")
# The recipe of the papers: every 23rd pair validates, these talks test.
VALIDATION_EVERY = 23
TALKS = ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")


def labelled_lines(content: str, classes: Sequence[str]) -> dict:
    """Lines "LABEL text" or "LABEL:detail text" as columns; only "\\n" ends a line."""
    rows = [line.split(" ", 1) for line in content.split("\n") if line.strip()]
    index = {name: place for place, name in enumerate(classes)}
    wrong = [row for row in rows if len(row) < 2 or row[0].split(":")[0] not in index]
    if wrong:
        raise ArchiveError(f"not a line of the form 'LABEL text': {' '.join(wrong[0])[:60]!r}")
    labels = torch.tensor([index[label.split(":")[0]] for label, _ in rows])
    return {"text": [text.strip() for _, text in rows], "labels": labels}


def trec(files: Mapping[str, Path]) -> Parsed:
    """Questions by the type of their answer: six coarse classes."""
    classes = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
    parts = {"train": "train_5500.label", "test": "TREC_10.label"}
    splits = (
        (split, labelled_lines(files[name].read_text("latin-1"), classes))
        for split, name in parts.items()
    )
    return Parsed(classes, splits)


def sentiment_trees(files: Mapping[str, Path]) -> Parsed:
    """Whole sentences of the treebank; neutral ones are left out, as in SST-2."""
    (path,) = files.values()
    parts = {"train": "train", "validation": "dev", "test": "test"}
    splits = (
        (split, binary_trees(archives.read(path, f"trees/{name}.txt").decode()))
        for split, name in parts.items()
    )
    return Parsed(("negative", "positive"), splits)


def binary_trees(content: str) -> dict:
    """Trees "(3 (2 The) (4 best))", one a line: root labels 0, 1 are negative, 3, 4 positive."""
    trees = [line.strip() for line in content.split("\n") if line.strip()]
    if any(not re.match(r"\([0-4] ", tree) for tree in trees):
        raise ArchiveError("a line is not a sentiment tree '(LABEL ...)'")
    kept = [tree for tree in trees if tree[1] != "2"]
    words = ([BRACKETS.get(word, word) for word in LEAF.findall(tree)] for tree in kept)
    labels = torch.tensor([int(tree[1] in "34") for tree in kept])
    return {"text": [" ".join(sentence) for sentence in words], "labels": labels}


def newsgroups(files: Mapping[str, Path]) -> Parsed:
    """Posts in 20news-bydate-{train,test}/GROUP/NUMBER, headers and all, sorted by name."""
    (path,) = files.values()
    posts = sorted(archives.members(path))
    parts = [(name.split("/"), content.decode("latin-1")) for name, content in posts]
    classes = sorted({group for (_, group, _), _ in parts})

    def split(which: str) -> dict:
        rows = [(g, text) for (folder, g, _), text in parts if folder == f"20news-bydate-{which}"]
        labels = torch.tensor([classes.index(group) for group, _ in rows])
        return {"text": [text for _, text in rows], "labels": labels}

    return Parsed(classes, ((which, split(which)) for which in ("train", "test")))


def multi30k(files: Mapping[str, Path]) -> Parsed:
    """One archive per split with a file per language, line by line translations of one another."""
    parts = {"train": ("training", "train"), "validation": ("validation", "val")}
    parts["test"] = ("mmt16_task1_test", "test")

    def split(archive: str, prefix: str) -> dict[str, list[str]]:
        path = files[f"{archive}.tar.gz"]
        lines = {lang: archives.read(path, f"{prefix}.{lang}").decode() for lang in LANGUAGES}
        return aligned_lines(lines)

    return Parsed((), ((which, split(*part)) for which, part in parts.items()))


def aligned_lines(contents: Mapping[str, str]) -> dict[str, list[str]]:
    """The lines of each language, without rows that are empty in any of them."""
    columns = {lang: text.removesuffix("\n").split("\n") for lang, text in contents.items()}
    lengths = {language: len(lines) for language, lines in columns.items()}
    if len({*lengths.values()}) != 1:
        raise ArchiveError(f"the languages have different numbers of lines: {lengths}")
    rows = [row for row in zip(*columns.values(), strict=True) if all(map(str.strip, row))]
    return {lang: [row[place].strip() for row in rows] for place, lang in enumerate(columns)}


def iwslt14(files: Mapping[str, Path]) -> Parsed:
    """TED talks, German and English: tagged lines to train, five talks' XML to test."""
    (path,) = files.values()
    found = {name.rsplit("/", 1)[-1]: text.decode() for name, text in archives.members(path)}
    names = {f"train.tags.de-en.{lang}" for lang in LANGUAGES}
    names |= {f"IWSLT14.{talk}.de-en.{lang}.xml" for talk in TALKS for lang in LANGUAGES}
    if missing := names - set(found):
        raise ArchiveError(f"{path} holds no {', '.join(sorted(missing))}")

    def splits() -> Iterator[tuple[str, dict[str, list[str]]]]:
        tagged = {lang: _untagged(found[f"train.tags.de-en.{lang}"]) for lang in LANGUAGES}
        pairs = aligned_lines(tagged)
        last, train = VALIDATION_EVERY - 1, {lang: [*lines] for lang, lines in pairs.items()}
        for lines in train.values():
            del lines[last::VALIDATION_EVERY]
        yield "train", train
        yield "validation", {lang: rows[last::VALIDATION_EVERY] for lang, rows in pairs.items()}
        yield "test", aligned_lines({
            lang: "\n".join(
                " ".join(html.unescape(text).split())
                for talk in TALKS
                for text in SEGMENT.findall(found[f"IWSLT14.{talk}.de-en.{lang}.xml"])
            )
            for lang in LANGUAGES
        })  # fmt: skip

    return Parsed((), splits())


def _untagged(content: str) -> str:
    """Sentences, titles and descriptions; other tagged lines say who spoke and where it is."""
    lines = (line.strip() for line in content.split("\n"))
    return "\n".join(TITLE.sub("", line).strip() for line in lines if not META.match(line))
