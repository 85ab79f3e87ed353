"""Words, numbers, padding, masks, and vectors from a file."""

import pytest
import torch

from calibkit.lab import text
from calibkit.lab.text import Vocabulary
from tests import refusals

TEXTS = [["b", "a", "b"], ["c", "a", "b"], ["d"]]


def test_the_commonest_words_come_first_and_ties_by_the_alphabet():
    assert Vocabulary.of(TEXTS).words == ("<pad>", "<unk>", "b", "a", "c", "d")
    assert Vocabulary.of(TEXTS, size=4).words == ("<pad>", "<unk>", "b", "a")
    assert Vocabulary.of(TEXTS, at_least=3).words == ("<pad>", "<unk>", "b")
    assert Vocabulary.of(TEXTS, special=("<s>", "a"), size=5).words[2:] == ("<s>", "a", "b")


def test_words_come_back_and_unknown_ones_are_marked():
    known = Vocabulary.of(TEXTS)
    rows = text.pad([known.encode(words) for words in TEXTS])
    assert [known.decode(row) for row in rows] == TEXTS
    assert known.encode(["z", "a", "<pad>"]) == [1, 3, 0]
    assert len(known) == 6


def test_padding_and_its_mask():
    rows = text.pad([[2, 3, 4], [], [5]])
    assert rows.dtype == torch.int64
    assert rows.tolist() == [[2, 3, 4], [0, 0, 0], [5, 0, 0]]
    assert text.is_word(rows).sum(dim=1).tolist() == [3, 0, 1]
    assert text.pad([[2, 3, 4]], length=5).tolist() == [[2, 3, 4, 0, 0]]
    blend = torch.tensor([[[2.0, 0.0, 0.3], [0.0, 0.0, 0.3], [0.0, 4.0, 0.3]]])
    assert text.is_word(blend).tolist() == [[True, False, True]]


def test_tokens_keep_marks_and_other_alphabets():
    assert text.tokens("Größe: 3,5 cm\n") == ["größe", ":", "3", ",", "5", "cm"]
    assert text.tokens(" \n") == []


def test_vectors_of_a_file(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("a 1 2\nb 3 -4.5\n. . 0 1\nzebra 9 9\n", encoding="utf-8")
    vectors, found = text.read_vectors(path, Vocabulary.of([["a", "b", "q", ". ."]]))
    assert vectors.shape == (6, 2)
    assert vectors[2:5].tolist() == [[0, 1], [1, 2], [3, -4.5]]  # ". .", "a", "b"
    assert vectors[0].tolist() == [0, 0]
    assert found.tolist() == [False, False, True, True, True, False]
    again, _ = text.read_vectors(path, Vocabulary.of([["a", "b", "q", ". ."]]))
    assert torch.equal(vectors, again)
    many = Vocabulary.of([["a", "b", *map(str, range(4000))]])
    vectors, found = text.read_vectors(path, many)
    assert vectors[1:][~found[1:]].std().item() == pytest.approx(vectors[found].std().item(), 0.05)
    path.write_text("2 2\na 1 2\nb 3 4\n", encoding="utf-8")
    assert text.read_vectors(path, Vocabulary.of([["b"]]))[0][2].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("content", "remedy"), [("a 1 2\nb 3\n", "line 2"), ("zebra 1 2\n", "none")]
)
def test_files_that_do_not_fit(tmp_path, content, remedy):
    path = tmp_path / "vectors.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=f"path must .*{remedy}"):
        text.read_vectors(path, Vocabulary.of([["a"]]))


test_bad_arguments_are_named = refusals.table("""
    Vocabulary(("a", "b")) -> ValueError: ...words must begin
    Vocabulary(("<pad>", "<unk>", "a", "a")) -> ValueError: ...'a' twice
    Vocabulary.of(TEXTS, size=1) -> ValueError: ...size
    Vocabulary.of(TEXTS).encode("a b") -> TypeError: ...text must be a list
""")
