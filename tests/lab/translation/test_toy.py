"""The exact law of the toy pair against all translations of a sentence, one by one."""

import itertools

import pytest
import torch

from calibkit import metrics
from calibkit.lab import translation
from calibkit.lab.translation import toy
from calibkit.lab.translation.pairs import SPECIAL

ARTICLES = {"m": "le", "f": "la"}
SENTENCES = (
    "the car covers the road",
    "the green picture hides the house",
    "the chair carries the bright bag often",
    "the odd car passes the heavy picture slowly",
)


def phrases(words):
    """Each way to say `the [adjective] noun`, with its probability."""
    *adjectives, noun = words
    for word, gender, p in toy.NOUNS[noun]:
        if not adjectives:
            yield [ARTICLES[gender], word], p
            continue
        for masculine, feminine, q in toy.ADJECTIVES[adjectives[0]]:
            yield [ARTICLES[gender], word, masculine if gender == "m" else feminine], p * q


def translations(text):
    """All translations of a sentence with their probabilities, from the tables alone."""
    words = text.split()
    verb = next(i for i, word in enumerate(words) if word in toy.VERBS)
    adverb = words.pop() if words[-1] in toy.ADVERBS else None
    parts = list(phrases(words[1:verb])), toy.VERBS[words[verb]], list(phrases(words[verb + 2 :]))
    for (first, p), (said, q), (second, r) in itertools.product(
        parts[0], parts[1].items(), parts[2]
    ):
        clause, share = [*first, said, *second], p * q * r
        if adverb is None:
            yield tuple(clause), share
            continue
        yield tuple(clause), share * 0.25
        for manner, (how, s) in itertools.product(
            ("façon", "manière"), toy.ADVERBS[adverb].items()
        ):
            phrase = ["de", manner, how]
            yield (*clause, *phrase), share * 0.45 * 0.5 * s
            yield (*phrase, *clause), share * 0.3 * 0.5 * s


@pytest.mark.parametrize("text", SENTENCES)
def test_the_next_word_law_is_that_of_all_translations(text):
    everything = dict(translations(text))
    assert len(everything) == len(list(translations(text)))
    likely = list(toy.translations(text).values())
    assert likely == sorted(likely, reverse=True)
    assert sum(everything.values()) == pytest.approx(1, abs=1e-12)
    ended = {(*words, SPECIAL[translation.END]): p for words, p in everything.items()}
    prefixes = {words[:length] for words in ended for length in range(len(words))}
    for prefix in prefixes:
        expected = {}
        for words, p in ended.items():
            if words[: len(prefix)] == prefix:
                following = words[len(prefix)]
                expected[following] = expected.get(following, 0.0) + p
        total, left = sum(expected.values()), toy.ways(text.split())
        for word in prefix:
            left = toy.followed(left, word)
        found = toy.next_words(left)
        assert set(found) == set(expected)
        for word, p in expected.items():
            assert found[word] == pytest.approx(p / total, abs=1e-9)


@pytest.mark.parametrize("text", SENTENCES)
def test_a_sentence_has_the_probability_of_its_row(text):
    for words, p in translations(text):
        assert toy.probability(text, " ".join(words)) == pytest.approx(p, abs=1e-12)
    everything = {" ".join(words): p for words, p in translations(text)}
    assert toy.translations(text) == pytest.approx(everything, abs=1e-12)
    assert toy.probability(text, "le le") == 0
    assert toy.probability(text, "") == 0


def test_the_law_tensor_is_calibrated_on_its_own_draws():
    pairs = toy.draw(3000, seed=1)
    law = toy.law(pairs)
    assert torch.allclose(law.sum(dim=2), torch.ones(()).double(), atol=1e-12)
    real = pairs.real
    assert metrics.ece(law[real], pairs.target[real]) < 0.01
    labels = law[real].gather(1, pairs.target[real][:, None])
    assert bool((labels > 0).all())
    texts = zip(pairs.texts(source=True)[:20], pairs.texts()[:20], strict=True)
    by_token = law.gather(2, pairs.target[..., None])[..., 0].prod(dim=1)
    for row, (source, target) in enumerate(texts):
        assert toy.probability(source, target) == pytest.approx(by_token[row].item(), abs=1e-12)


@pytest.mark.parametrize("text", [
    "", "the", "a car covers the road", "the car covers", "the green green car hits the car",
    "the car covers the road often often", "the covers car the road", "the car often the road",
])  # fmt: skip
def test_what_is_not_of_the_grammar_is_refused(text):
    with pytest.raises(ValueError, match="source must be"):
        toy.ways(text.split())
