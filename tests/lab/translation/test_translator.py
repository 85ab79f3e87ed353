"""Padding, the transformer, beam search, BLEU, training and what is kept of it."""

import itertools
import math

import pytest
import torch

from calibkit import metrics
from calibkit.lab import translation
from calibkit.lab.translation import END, PAD, START, Pairs, Plan, toy

FEW = toy.draw(40, seed=0)


def small(seed=0):
    torch.manual_seed(seed)
    words = len(FEW.source_words), len(FEW.target_words)
    return translation.Translator(*words, width=16, depth=1, heads=2).eval()


def padded(pairs, more=3):
    """The same sentences with more padding."""
    blank = torch.full((len(pairs), more), PAD)
    both = (torch.cat([rows, blank], dim=1) for rows in (pairs.source, pairs.target))
    return Pairs(*both, pairs.source_words, pairs.target_words)


def test_padding_changes_no_logit_of_a_real_token():
    model, real = small(), FEW.real
    wide = padded(FEW)
    narrow, broad = translation.logits_of(model, FEW), translation.logits_of(model, wide)
    assert torch.allclose(narrow[real], broad[wide.real], atol=1e-5)
    assert wide.trimmed().target.shape == FEW.trimmed().target.shape
    one = FEW[:1].trimmed()
    alone = translation.logits_of(model, one)[0]
    assert torch.allclose(alone, narrow[0, : alone.shape[0]], atol=1e-5)


@pytest.mark.parametrize("mode", [True, False])
def test_logits_are_those_without_dropout_and_leave_the_mode_as_it_was(mode):
    model = small()
    logits = translation.logits_of(model, FEW)
    assert torch.equal(translation.logits_of(model.train(mode), FEW), logits)
    assert model.training is mode


def test_a_token_sees_only_those_before_it():
    model = small()
    changed = FEW.target.clone()
    changed[:, 4:] = 5
    other = Pairs(FEW.source, changed, FEW.source_words, FEW.target_words)
    left, right = (translation.logits_of(model, pairs) for pairs in (FEW, other))
    assert torch.allclose(left[:, :5], right[:, :5], atol=1e-6)
    assert not torch.allclose(left[:, 5], right[:, 5])


def test_tokens_leave_the_padding_out():
    model, wide = small(), padded(FEW, 9)
    found = translation.tokens(translation.logits_of(model, wide), wide)
    assert len(found) == int(FEW.real.sum())
    assert PAD not in found.labels
    assert int((found.labels == END).sum()) == len(FEW)
    with pytest.raises(ValueError, match="logits must be"):
        translation.tokens(torch.zeros(2, 3, 4), FEW)


def test_pairs_refuse_numbers_outside_the_vocabulary():
    for rows in (torch.tensor([[99]]), torch.tensor([[-1]]), torch.tensor([[4.0]])):
        with pytest.raises(ValueError, match="target must be int64 word numbers"):
            Pairs(torch.tensor([[4, END]]), rows, FEW.source_words, ("a",) * 5)
    with pytest.raises(ValueError, match="one entry per row"):
        Pairs(FEW.source[:2], FEW.target, FEW.source_words, FEW.target_words)


def every_sentence(score, longest, words):
    """The log-probability of each sentence of at most `longest` words, by brute force."""
    found = {}
    for length in range(longest):
        for sentence in itertools.product(range(END + 1, words), repeat=length):
            total, prefix = 0.0, [START]
            for word in (*sentence, END):
                row = score(torch.tensor([0]), torch.tensor([prefix]))[0]
                total += row[word].item()
                prefix.append(word)
            found[(*sentence, END)] = total
    return found


def random_law(words, seed):
    """A law of the next token that depends on the whole prefix."""

    def score(rows, prefixes):
        logits = []
        for prefix in prefixes.tolist():
            number = hash(tuple(p for p in prefix if p != PAD)) % 2**31 + seed
            generator = torch.Generator().manual_seed(number)
            logits.append(2 * torch.randn(words, generator=generator, dtype=torch.float64))
        table = torch.stack(logits)
        table[:, [PAD, 1, START]] = -torch.inf
        if prefixes.shape[1] == 4:  # all sentences end here
            table[:, END + 1 :] = -torch.inf
        return table.log_softmax(dim=1)

    return score


@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_finds_the_most_probable_sentence(seed):
    score = random_law(7, seed)
    everything = every_sentence(score, 4, 7)
    assert sum(map(math.exp, everything.values())) == pytest.approx(1)
    best = max(everything, key=everything.get)
    found, log_probability = translation.beam(score, 1, width=60, longest=5)
    assert tuple(word for word in found[0].tolist() if word != PAD) == best
    assert log_probability.item() == pytest.approx(everything[best])
    greedy, its = translation.beam(score, 1, width=1, longest=5)
    prefix = [START]
    for word in greedy[0].tolist():
        if prefix[-1] == END:
            break
        assert word == score(torch.tensor([0]), torch.tensor([prefix]))[0].argmax().item()
        prefix.append(word)
    assert its.item() <= log_probability.item() + 1e-12


def test_a_translation_is_as_likely_as_at_its_temperature():
    score = translation.scorer(small(), FEW.source, temperature=4.0)
    found, expected = translation.beam(score, len(FEW), width=1, longest=6)
    words, likely = translation.translate(small(), FEW, temperature=4.0, longest=6)
    assert torch.equal(words, found)
    torch.testing.assert_close(likely, expected)


def test_bleu_of_known_sentences():
    said = ["the cat sat on the mat today", "a dog"]
    assert translation.bleu(said, said) == pytest.approx(100)
    # 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 quadruples
    one = translation.bleu(["a b c d x"], ["a b c d e"])
    assert one == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    short = translation.bleu(["a b c d"], ["a b c d e"])
    assert short == pytest.approx(100 * math.exp(1 - 5 / 4))


def plan(**more):
    law = toy.law(FEW)
    options = {"steps": 12, "marks": (6,), "width": 16, "depth": 1, "heads": 2, "batch_size": 16}
    return Plan(toy.draw(60, seed=2), FEW, law, **(options | more))


def test_a_training_belongs_to_its_plan():
    one, same = translation.fit(plan()), translation.fit(plan())
    assert one["history"] == same["history"]
    assert [row["step"] for row in one["history"]] == [6, 12]
    for change in ({"seed": 1}, {"padded": True}, {"lr": 1e-3}, {"weight_decay": 1.0}):
        assert translation.fit(plan(**change))["history"] != one["history"], change
    first, last = one["history"]
    assert last["nll"] < first["nll"] - 0.05  # its rate has risen
    assert 0 < last["distance"] < 1
    assert last["best_accuracy"] > last["accuracy"]


def test_runs_are_kept_and_come_back(tmp_path, monkeypatch):
    monkeypatch.setenv("CALIBKIT_CACHE", str(tmp_path))
    plans = [plan(), plan(seed=1)]
    first = translation.fit_all(plans, jobs=1, progress=False)
    files = sorted(tmp_path.glob("*/*.run"))
    assert len(files) == 2
    stamps = [file.stat().st_mtime_ns for file in files]
    again = translation.fit_all(plans, jobs=1, progress=False)
    assert stamps == [file.stat().st_mtime_ns for file in sorted(tmp_path.glob("*/*.run"))]
    for one, other in zip(first, again, strict=True):
        assert one.history.equals(other.history)
        assert torch.equal(one.predict(FEW).logits, other.predict(FEW).logits)
    last = first[0].history.iloc[-1]
    assert f"s; train_loss {last.train_loss:.4g}, " in repr(first[0])
    tokens = first[0].predict(FEW)
    assert metrics.ece(tokens.probs, tokens.labels) == pytest.approx(last.ece, abs=1e-6)
    assert first[0].diagrams[-1].error() == pytest.approx(last.ece, abs=1e-6)
