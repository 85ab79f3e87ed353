"""A toy pair of languages of which every translation's probability is known.

The source is English: `the [adjective] noun verb the [adjective] noun [adverb]`. The target is
made of French words. A translator draws, each time anew,

- a noun among synonyms that may differ in gender; article and adjective agree with it;
- adjective and verb among synonyms; the adjective follows its noun;
- for the adverb, `de façon X` or `de manière X` with a synonym X: at the end, in front, or not at
  all.

So the article says something about a noun that is still to come, and one about the adverb is known
only at the end. The exact next word given source and prefix follows from a sum over the orders that
are still possible.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from calibkit import validate
from calibkit.lab.translation.pairs import END, PAD, SPECIAL, Pairs, rows_of

NOUNS = {  # word, gender, probability
    "car": (("voiture", "f", 0.5), ("véhicule", "m", 0.3), ("bolide", "m", 0.2)),
    "house": (("maison", "f", 0.7), ("logis", "m", 0.3)),
    "bike": (("vélo", "m", 0.6), ("bicyclette", "f", 0.4)),
    "boat": (("bateau", "m", 0.65), ("barque", "f", 0.35)),
    "chair": (("chaise", "f", 0.8), ("siège", "m", 0.2)),
    "road": (("route", "f", 0.55), ("chemin", "m", 0.45)),
    "coat": (("manteau", "m", 0.6), ("veste", "f", 0.4)),
    "bag": (("sac", "m", 0.7), ("sacoche", "f", 0.3)),
    "picture": (("tableau", "m", 0.5), ("peinture", "f", 0.3), ("toile", "f", 0.2)),
    "shop": (("magasin", "m", 0.6), ("boutique", "f", 0.4)),
}
ADJECTIVES = {  # masculine, feminine, probability
    "green": (("vert", "verte", 1.0),),
    "white": (("blanc", "blanche", 1.0),),
    "black": (("noir", "noire", 1.0),),
    "broken": (("cassé", "cassée", 0.6), ("brisé", "brisée", 0.4)),
    "heavy": (("lourd", "lourde", 0.7), ("pesant", "pesante", 0.3)),
    "bright": (
        ("brillant", "brillante", 0.5),
        ("lumineux", "lumineuse", 0.3),
        ("éclatant", "éclatante", 0.2),
    ),
    "funny": (("amusant", "amusante", 0.6), ("marrant", "marrante", 0.4)),
    "odd": (("curieux", "curieuse", 0.6), ("surprenant", "surprenante", 0.4)),
}
VERBS = {
    "hides": {"cache": 0.6, "dissimule": 0.4},
    "follows": {"suit": 0.8, "poursuit": 0.2},
    "shows": {"montre": 0.7, "présente": 0.3},
    "carries": {"porte": 0.6, "transporte": 0.4},
    "hits": {"frappe": 0.7, "heurte": 0.3},
    "touches": {"touche": 0.75, "effleure": 0.25},
    "covers": {"couvre": 1.0},
    "passes": {"dépasse": 0.55, "double": 0.45},
}
ADVERBS = {
    "quickly": {"rapide": 0.6, "prompte": 0.4},
    "often": {"fréquente": 0.6, "répétée": 0.4},
    "always": {"constante": 0.6, "permanente": 0.4},
    "slowly": {"lente": 0.6, "paresseuse": 0.4},
}
MANNER = {"façon": 0.5, "manière": 0.5}
ADVERB_AT = {"end": 0.45, "front": 0.3, "nowhere": 0.25}
ARTICLE = {"m": "le", "f": "la"}

SOURCE_WORDS = (*SPECIAL, "the", *NOUNS, *ADJECTIVES, *VERBS, *ADVERBS)
TARGET_WORDS = (
    *(*SPECIAL, *ARTICLE.values(), "de", *MANNER),
    *(word for options in NOUNS.values() for word, _, _ in options),
    *(word for options in ADJECTIVES.values() for row in options for word in row[:2]),
    *(word for table in (VERBS, ADVERBS) for options in table.values() for word in options),
)
PLACE = {word: number for number, word in enumerate(TARGET_WORDS)}
DRAWS = 16  # random numbers that a sentence and its translation may use

# the words that may stand here after a noun of this gender: probability, and gender from now on
Slot = Callable[[str], Mapping[str, tuple[float, str]]]
# an order that agrees with the prefix: its probability with it, its slots, how many are filled
Way = tuple[float, tuple[Slot, ...], int, str]


@functools.cache
def _article(noun: str) -> Slot:
    return lambda gender: {
        ARTICLE[g]: (sum(p for _, its, p in NOUNS[noun] if its == g), g)
        for g in dict.fromkeys(its for _, its, _ in NOUNS[noun])  # a set has no fixed order
    }


@functools.cache
def _noun(noun: str) -> Slot:
    def slot(gender: str):
        agreeing = [(word, p) for word, its, p in NOUNS[noun] if its == gender]
        return {word: (p / sum(q for _, q in agreeing), gender) for word, p in agreeing}

    return slot


@functools.cache
def _adjective(adjective: str) -> Slot:
    options = ADJECTIVES[adjective]
    return lambda gender: {(m if gender == "m" else f): (p, gender) for m, f, p in options}


def _word(options: Mapping[str, float]) -> Slot:
    return lambda gender: {word: (p, gender) for word, p in options.items()}


def ways(source: Sequence[str]) -> list[Way]:
    """The orders in which a source sentence can be translated, before the first word.

    Raises ValueError for a sentence that is not of the grammar.
    """
    phrases, verb, adverb = _parsed(source)
    middle = [*phrases[0], _word(VERBS[verb]), *phrases[1]]
    if adverb is None:
        return [(1.0, tuple(middle), 0, "")]
    manner = [_word({"de": 1.0}), _word(MANNER), _word(ADVERBS[adverb])]
    orders = {"end": [*middle, *manner], "front": [*manner, *middle], "nowhere": middle}
    return [(p, tuple(orders[where]), 0, "") for where, p in ADVERB_AT.items()]


def _parsed(source: Sequence[str]) -> tuple[list[list[Slot]], str, str | None]:
    """The slots of both noun phrases, the verb, and the adverb if there is one."""
    rest, phrases, verb = list(source), [], ""
    try:
        for phrase in range(2):
            if rest.pop(0) != "the":
                raise KeyError("the")
            adjectives = [_adjective(rest.pop(0))] if rest[0] in ADJECTIVES else []
            noun = rest.pop(0)
            phrases.append([_article(noun), _noun(noun), *adjectives])
            phrases[-1][1]("m")  # a KeyError where it is no noun
            verb = verb if phrase else rest.pop(0)
        adverb = rest.pop(0) if rest else None
        _ = VERBS[verb], ADVERBS[adverb] if adverb else None
        if rest:
            raise KeyError(rest[0])
    except (KeyError, IndexError):
        raise ValueError(
            f"source must be 'the [adjective] noun verb the [adjective] noun [adverb]' in words of "
            f"SOURCE_WORDS, got {' '.join(source)!r}"
        ) from None
    return phrases, verb, adverb


def followed(ways: Sequence[Way], word: str) -> list[Way]:
    """What is left of the ways after one more word; nothing where it is impossible."""
    left = []
    for p, slots, filled, gender in ways:
        if filled == len(slots) and word == SPECIAL[END]:
            left.append((p, slots, filled + 1, gender))
        elif filled < len(slots) and word in (options := slots[filled](gender)):
            q, after = options[word]
            left.append((p * q, slots, filled + 1, after))
    return left


def next_words(ways: Sequence[Way]) -> dict[str, float]:
    """The exact law of the next word: p(word | source, prefix), by a sum over the ways.

    Empty after the end, and where there are no ways.

    >>> law = next_words(ways("the car covers the road".split()))
    >>> round(law["la"], 3), round(law["le"], 3)  # voiture; véhicule or bolide
    (0.5, 0.5)
    """
    total = sum(way[0] for way in ways)
    law: dict[str, float] = {}
    for p, slots, filled, gender in ways:
        if filled > len(slots):  # ended
            continue
        full = filled == len(slots)
        options = {SPECIAL[END]: (1.0, gender)} if full else slots[filled](gender)
        for word, (q, _) in options.items():
            law[word] = law.get(word, 0.0) + p / total * q
    return law


def translations(source: str) -> dict[str, float]:
    """All translations of a sentence with their exact probabilities, the most probable first.

    >>> len(translations("the car covers the road")), len(translations("the bag covers the bag"))
    (6, 4)
    """
    whole: dict[str, float] = {}
    begun: list[tuple[list[str], list[Way]]] = [([], ways(source.split()))]
    while begun:
        words, left = begun.pop()
        for word in next_words(left):
            after = followed(left, word)
            if word == SPECIAL[END]:
                whole[" ".join(words)] = sum(way[0] for way in after)
            else:
                begun.append(([*words, word], after))
    return dict(sorted(whole.items(), key=lambda item: -item[1]))


def draw(n: int, seed: int) -> Pairs:
    """`n` independent sentences, each with one translation drawn from its exact law.

    Raises ValueError for n below 1 or a negative seed.

    >>> pairs = draw(2, seed=0)
    >>> pairs.texts(source=True)[0].startswith("the ")
    True
    """
    validate.integer("n", n, 1)
    numbers = torch.rand(n, 2 * DRAWS, generator=validate.generator(seed), dtype=torch.float64)
    sources = [_sentence(row[:DRAWS]) for row in numbers.tolist()]
    targets = [
        _translated(source, row[DRAWS:])
        for source, row in zip(sources, numbers.tolist(), strict=True)
    ]
    return Pairs(
        rows_of(sources, SOURCE_WORDS), rows_of(targets, TARGET_WORDS), SOURCE_WORDS, TARGET_WORDS
    )


def _sentence(numbers: Sequence[float]) -> list[str]:
    """A source sentence: each word equally likely, adjectives and adverb in half of the cases."""
    rest = iter(numbers)

    def one_of(words) -> str:
        return list(words)[int(next(rest) * len(words))]

    def phrase() -> list[str]:
        adjective = [one_of(ADJECTIVES)] if next(rest) < 0.5 else []
        return ["the", *adjective, one_of(NOUNS)]

    sentence = [*phrase(), one_of(VERBS), *phrase()]
    return [*sentence, one_of(ADVERBS)] if next(rest) < 0.5 else sentence


def _translated(source: Sequence[str], numbers: Sequence[float]) -> list[str]:
    left = ways(source)
    words: list[str] = []
    for number in numbers:
        law = next_words(left)
        below = bisect.bisect(list(itertools.accumulate(law.values())), number)
        word = list(law)[min(below, len(law) - 1)]  # rounding may leave the sum below 1
        if word == SPECIAL[END]:
            return words
        words.append(word)
        left = followed(left, word)
    raise AssertionError("a translation is longer than the grammar allows")


def law(pairs: Pairs) -> Tensor:
    """(n, T, V) float64: the exact law of each target token given the source and those before it.

    At padding it is all on `PAD`. Raises ValueError for a translation that is impossible.
    """
    n, length = pairs.target.shape
    probs = torch.zeros(n, length, len(TARGET_WORDS), dtype=torch.float64)
    texts = zip(pairs.texts(source=True), pairs.texts(), strict=True)
    for row, (source, target) in enumerate(texts):
        left, words = ways(source.split()), [*target.split(), SPECIAL[END]]
        for place, word in enumerate(words):
            for candidate, p in next_words(left).items():
                probs[row, place, PLACE[candidate]] = p
            left = followed(left, word)
            if not left:
                raise ValueError(f"target {target!r} is no translation of {source!r}")
        probs[row, len(words) :, PAD] = 1.0
    return probs.clamp_(max=1)  # rounding may pass 1 by 1e-16


def probability(source: str, target: str) -> float:
    """The exact probability of a whole translation; 0 for an impossible one.

    >>> round(probability("the car covers the road", "la voiture couvre la route"), 4)  # .5 x .55
    0.275
    """
    left = ways(source.split())
    for word in (*target.split(), SPECIAL[END]):
        left = followed(left, word)
    return sum(way[0] for way in left)


def scorer(pairs: Pairs, *, temperature: float = 1.0) -> Callable[[Tensor, Tensor], Tensor]:
    """The exact law in the form that `decoding.beam` asks: log p (m, V) of the next word.

    Another temperature than 1 makes it p^(1 / T), divided by its sum: too sure below 1.
    """
    sources = [ways(text.split()) for text in pairs.texts(source=True)]

    @functools.cache
    def after(row: int, prefix: tuple[int, ...]) -> list[Way]:
        if not prefix:
            return sources[row]
        return followed(after(row, prefix[:-1]), TARGET_WORDS[prefix[-1]])

    def score(rows: Tensor, prefixes: Tensor) -> Tensor:
        probs = torch.zeros(len(rows), len(TARGET_WORDS), dtype=torch.float64)
        for i, (row, prefix) in enumerate(zip(rows.tolist(), prefixes.tolist(), strict=True)):
            law = next_words(after(row, tuple(prefix[1:])))
            total = sum(p ** (1 / temperature) for p in law.values())
            for word, p in law.items():
                probs[i, PLACE[word]] = p ** (1 / temperature) / total
        return probs.log()

    return score
