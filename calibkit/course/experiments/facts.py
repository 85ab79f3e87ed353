"""A small world of facts, the text that tells of them, and what can be known from that text.

A fact is a question, a relation of a person ("where was anna bell born ?"), and its answer, one of
24 places. A sentence of the text draws a question from a law of our choice, then a wording of it,
then an answer: the true place, or with a fixed probability another one; then a wording of the
place. So the posterior of every answer given the text, and the law of every next word, are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from calibkit import validate
from calibkit.lab.text import PAD, UNKNOWN, Vocabulary, pad

FIRST_NAMES = (
    "anna ben carla david elena farid grace hugo ines jonas kemal laura marco nadia oscar paula "
    "quinn rosa samir tara umar vera walter ximena yusuf zoe aiko boris celia dario emma felix "
    "gita hana ivan julia kofi lena milo nora otto priya rafael sofia tomas ulla victor wanda"
)
LAST_NAMES = (
    "abbott bell costa diaz evans fischer gomez haas ito jensen khan lopez meyer novak okoye perez "
    "quist rossi silva tanaka ueda vogel weber xu yilmaz zhang adler bauer chen dubois ekman "
    "fontana garcia hansen ivanov jones kaya larsen moreau nguyen olsen park reyes santos torres "
    "urban varga wong"
)
FIRST, LAST = FIRST_NAMES.split(), LAST_NAMES.split()
PLACES: tuple[dict[str, float], ...] = (  # the names of each place, with their probabilities
    {"istanbul": 0.5, "constantinople": 0.3, "byzantium": 0.2},
    {"volgograd": 0.5, "stalingrad": 0.3, "tsaritsyn": 0.2},
    {"bratislava": 0.5, "pressburg": 0.3, "pozsony": 0.2},
    {"lviv": 0.5, "lemberg": 0.3, "lwow": 0.2},
    {"saint petersburg": 0.5, "leningrad": 0.3, "petrograd": 0.2},
    *({one: 0.6, other: 0.4} for one, other in (
        ("mumbai", "bombay"), ("kolkata", "calcutta"), ("chennai", "madras"), ("yangon", "rangoon"),
        ("beijing", "peking"), ("hanoi", "tonkin"), ("oslo", "christiania"), ("gdansk", "danzig"),
        ("wroclaw", "breslau"), ("new york", "gotham"), ("paris", "lutetia"), ("rome", "roma"),
        ("prague", "praha"),
    )),
    *({name: 1.0} for name in ("cairo", "lima", "quito", "nairobi", "accra", "dublin")),
)  # fmt: skip
BEFORE = {"": 0.7, "in": 0.3}  # what an answer begins with
RELATIONS = ("birth", "home", "work", "study")
WORDINGS = (  # relation, and a question that asks for it
    (0, "where was {first} {last} born ?"),
    (0, "birthplace of {first} {last} ?"),
    (1, "where does {first} {last} live ?"),
    (1, "home of {first} {last} ?"),
    (2, "where does {first} {last} work ?"),
    (2, "workplace of {first} {last} ?"),
    (3, "where did {first} {last} study ?"),
    (3, "university of {first} {last} ?"),
)
EACH = len(WORDINGS) // len(RELATIONS)  # wordings of a question, all equally likely
QUESTIONS = len(RELATIONS) * len(FIRST) * len(LAST)
COMMON = 300  # questions that are asked often
START, END = "<s>", "."
# words that no text has, kept for models that speak of their answers; the stored models know them
ABOUT = ("right", "sure", "yes", "no", *(str(percent) for percent in range(0, 101, 10)))

# Every way to say an answer: its words, and its place.
ANSWERS = tuple(
    ((*before.split(), *name.split()), place)
    for place, names in enumerate(PLACES)
    for before in BEFORE
    for name in names
)
PLACE_OF = torch.tensor([place for _, place in ANSWERS])  # (S,)
# (places, S) the probability of each way to say a place; rows sum to 1
SAYING = torch.zeros(len(PLACES), len(ANSWERS), dtype=torch.float64)
for number, chance in enumerate(p * q for d in PLACES for p in BEFORE.values() for q in d.values()):
    SAYING[PLACE_OF[number], number] = chance

VOCABULARY = Vocabulary(
    tuple(dict.fromkeys((
        PAD, UNKNOWN, START, END, *FIRST, *LAST,
        *(word for _, wording in WORDINGS for word in wording.split() if "{" not in word),
        *(word for words, _ in ANSWERS for word in words), *ABOUT,
    )))
)  # fmt: skip


class World(NamedTuple):
    """frequency: (QUESTIONS,) float64, the law of the question of a sentence; truth: (QUESTIONS,)
    int64 places; wrong: the probability that a sentence names another place than the true one.
    """

    frequency: Tensor
    truth: Tensor
    wrong: float


class Text(NamedTuple):
    """n sentences: question (n,), wording (n,) of WORDINGS, said (n,) of ANSWERS, and the whole as
    word numbers, (n, T) int64, which begin with START and are padded with 0.
    """

    question: Tensor
    wording: Tensor
    said: Tensor
    words: Tensor


def world(rare: float = 0.3, wrong: float = 0.1, seed: int = 0) -> World:
    """A world whose truth is drawn uniformly.

    rare: the share of sentences whose question is one of the QUESTIONS - COMMON rare ones, all
        equally likely, so that most of these are told once or never. The others are about the
        COMMON questions, the k-th of which is told in proportion to 1 / k (Zipf's law).
    wrong: the share of sentences that name a wrong place, each equally likely.

    Raises ValueError for shares outside [0, 1].

    >>> round(world(rare=0.25).frequency.sort().values[:-COMMON].sum().item(), 6)
    0.25
    """
    rare, wrong = validate.fraction("rare", rare), validate.fraction("wrong", wrong)
    generator = validate.generator(seed)
    order = torch.randperm(QUESTIONS, generator=generator)
    frequency = torch.full((QUESTIONS,), rare / (QUESTIONS - COMMON), dtype=torch.float64)
    zipf = 1 / torch.arange(1, COMMON + 1, dtype=torch.float64)
    frequency[order[:COMMON]] = (1 - rare) * zipf / zipf.sum()
    return World(frequency, torch.randint(len(PLACES), (QUESTIONS,), generator=generator), wrong)


def text(of: World, n: int = 6_000, seed: int = 0) -> Text:
    """`n` independent sentences; 6,000 have some 47,000 words. Raises ValueError for n below 1.

    >>> drawn = text(world(), 1, seed=3)
    >>> " ".join(VOCABULARY.decode(drawn.words[0]))
    '<s> home of rafael chen ? in mumbai .'
    """
    validate.integer("n", n, 1)
    generator = validate.generator(seed)
    question = torch.multinomial(of.frequency, n, replacement=True, generator=generator)
    place = of.truth[question]
    slips = torch.rand(n, generator=generator) < of.wrong
    other = torch.randint(1, len(PLACES), (n,), generator=generator)
    place = torch.where(slips, (place + other) % len(PLACES), place)
    said = torch.multinomial(SAYING[place], 1, generator=generator)[:, 0]
    wording = EACH * (question // (len(FIRST) * len(LAST)))
    wording = wording + torch.randint(EACH, (n,), generator=generator)
    rows = [
        [*asked, *VOCABULARY.encode([*ANSWERS[way][0], END])]
        for asked, way in zip(numbered(question, wording), said.tolist(), strict=True)
    ]
    return Text(question, wording, said, pad(rows))


def numbered(question: Tensor, wording: Tensor) -> list[list[int]]:
    """Word numbers of each question in its wording, from START to "?"."""
    rows = []
    for one, way in zip(question.tolist(), wording.tolist(), strict=True):
        person = one % (len(FIRST) * len(LAST))
        first, last = FIRST[person // len(LAST)], LAST[person % len(LAST)]
        words = WORDINGS[way][1].format(first=first, last=last).split()
        rows.append(VOCABULARY.encode([START, *words]))
    return rows


def prompts(question: Tensor, seed: int = 0) -> Tensor:
    """(n, T) word numbers of questions (n,), each in a wording drawn at random; padded with 0.

    Raises ValueError for a question outside [0, QUESTIONS).
    """
    question = validate.labels(question, n=len(question), classes=QUESTIONS, name="question")
    drawn = torch.randint(EACH, (len(question),), generator=validate.generator(seed))
    return pad(numbered(question, EACH * (question // (len(FIRST) * len(LAST))) + drawn))


def question_of(first: str, last: str, relation: str) -> int:
    """The number of a question, by the names of the person and one of RELATIONS.

    Raises ValueError for a name or a relation that the world does not have.

    >>> prompts(torch.tensor([question_of("anna", "bell", "birth")])).shape[0]
    1
    """
    person = FIRST.index(validate.choice("first", first, tuple(FIRST))) * len(LAST)
    person += LAST.index(validate.choice("last", last, tuple(LAST)))
    place = RELATIONS.index(validate.choice("relation", relation, RELATIONS))
    return place * len(FIRST) * len(LAST) + person


def mentions(of: Text) -> Tensor:
    """(QUESTIONS, places) int64: how often the text gives each answer to each question."""
    pairs = of.question * len(PLACES) + PLACE_OF[of.said]
    counts = pairs.bincount(minlength=QUESTIONS * len(PLACES))
    return counts.view(QUESTIONS, len(PLACES))


def posterior(of: World, told: Text) -> Tensor:
    """(QUESTIONS, places) float64: the probability of each answer given the text, by Bayes' rule.

    The prior is uniform. A sentence names the true place with probability 1 - wrong, any other one
    with wrong / (places - 1). Questions that the text never answers keep the prior.
    """
    counts = mentions(told).double()
    slip = torch.tensor(of.wrong / (len(PLACES) - 1), dtype=torch.float64)
    log = torch.xlogy(counts, 1 - of.wrong) + torch.xlogy(
        counts.sum(1, keepdim=True) - counts, slip
    )
    return log.softmax(dim=1)


def missing_mass(of: World, told: Text) -> float:
    """The exact probability that the next sentence is about a question that the text lacks."""
    return of.frequency[mentions(told).sum(dim=1) == 0].sum().item()


class GoodTuring(NamedTuple):
    """An estimate of the missing mass from the text alone, and its 95 % interval."""

    estimate: float
    low: float
    high: float


def good_turing(times: Tensor) -> GoodTuring:
    """Good and Turing's estimate of the missing mass: the share of sentences whose fact is single.

    times: (m,) how often each fact is told; zeros may be left out. With N1 facts told once and N2
    twice in n sentences the estimate is N1 / n, and its squared standard error
    (N1 (1 - N1 / n) + 2 N2) / n^2.

    Raises ValueError for a text without sentences.
    Source: Good 1953; the normal interval Esty 1983, "A normal limit law for a nonparametric
    estimator of the coverage of a random sample".

    >>> good_turing(torch.tensor([1, 1, 1, 2, 5])).estimate  # three of ten sentences
    0.3
    """
    n = int(times.sum())
    if n < 1:
        raise ValueError("times must tell of one sentence at least, got none")
    once, twice = int((times == 1).sum()), int((times == 2).sum())
    half = 1.96 * (once * (1 - once / n) + 2 * twice) ** 0.5 / n
    return GoodTuring(once / n, max(0.0, once / n - half), min(1.0, once / n + half))
