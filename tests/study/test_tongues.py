"""Languages of names: py3langid's probabilities, and the exact posterior beside them."""

import pytest
import torch
from study import tongues


@pytest.fixture(scope="module")
def langid():
    pytest.importorskip("babel")
    return pytest.importorskip("py3langid.langid")


def test_the_posterior_counts_the_languages_of_a_name(langid):
    of = tongues.names()
    torch.testing.assert_close(of.posterior.sum(dim=1), torch.ones(len(of.names)).double())
    row = of.names.index("Deutsch")
    assert of.posterior[row, of.languages.index("de")] == 1 / of.weights[row]
    counted = (of.posterior > 0).sum(dim=1)
    assert torch.equal(counted.double(), of.weights)


def test_as_shipped_is_what_the_library_says(langid):
    of = tongues.names()
    texts = of.names[::4000]
    part = tongues.scored(texts, of.languages)
    mine = tongues.probs("as shipped", part, of)
    model = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    model.set_languages(of.languages)
    for text, row in zip(texts, mine, strict=True):
        code, sure = model.classify(text)
        assert of.languages[row.argmax()] == code
        assert row.max().item() == pytest.approx(sure, abs=1e-4)


def test_a_temperature_that_was_put_in_is_found():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(500, 4, generator=generator, dtype=torch.float64)
    of = tongues.Scored(3 * logits, torch.ones(500), torch.tensor([0, 1, 2, 2]))
    posterior = tongues.at_temperature(of, 3.0)
    weights = torch.rand(500, generator=generator, dtype=torch.float64)
    assert tongues.fitted(of, posterior, weights) == pytest.approx(3.0, rel=1e-3)


def test_another_way_is_refused():
    of = tongues.Scored(torch.zeros(1, 2), torch.ones(1), torch.arange(2))
    with pytest.raises(ValueError, match="way"):
        tongues.probs("cold", of, None)


def test_the_stored_table_is_calibrated_on_average_and_not_by_length():
    table = tongues.stored().set_index(["way", "characters"])
    gap = table.confidence - table.accuracy
    assert gap["raw", "all"] > 0.2
    assert abs(gap["as shipped", "all"]) < 0.02
    assert gap["as shipped", "from 1"] > 0.02 > -0.05 > gap["as shipped", "from 11"]
