"""Translators of the toy pair: what is trained, what is chosen, and what follows own words."""

import pytest
import torch

from calibkit.course.experiments import translated
from calibkit.course.experiments.translated import SMOKE
from calibkit.lab import translation
from calibkit.lab.translation import END


@pytest.fixture(scope="module")
def run():
    plan = translated.plan(SMOKE, "cross-entropy", 50, 0)
    return translation.fit_all([plan], jobs=1)[0]


def test_greedy_words_are_those_of_the_beam_of_one(run):
    pairs = translated.drawn(SMOKE, "test", 0)[:8]
    probs, sentences = translated.written(run, pairs)
    expected, _ = translation.beam(
        translation.scorer(run.model, pairs.source), len(pairs), longest=translated.LONGEST
    )
    assert pairs.texts(sentences) == pairs.texts(expected)
    assert probs.shape[:2] == sentences.shape
    assert probs.sum(dim=2).allclose(torch.ones(1, dtype=torch.float64))


def test_after_true_prefixes_the_law_itself_is_right_as_often_as_it_says():
    pairs = translated.drawn(SMOKE, "test", 0)
    law = translated.exact(SMOKE, "test", 0)
    own = translated.after_prefixes(law, pairs.target, pairs)
    assert len(own) == pairs.real.sum()
    assert own.possible.all()
    assert own.right.to_numpy() == pytest.approx(own.confidence.to_numpy())


def test_after_an_impossible_word_nothing_is_right():
    pair = translated.pair("the car covers the road", "le le voiture")
    probs = torch.full((1, 4, len(pair.target_words)), 1e-9)
    probs[..., pair.target_words.index("voiture")] = 0.9
    own = translated.after_prefixes(probs, pair.target, pair)
    assert own.possible.tolist() == [True, True, False, False]
    assert own.right[2:].tolist() == [0, 0]
    assert pair.target[0, -1] == END
