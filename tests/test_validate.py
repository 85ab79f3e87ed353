import numpy as np
import pytest
import torch

from calibkit import metrics, validate
from tests import refusals

PROBS = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
LOGITS = torch.tensor([[2.0, -1.0, 0.5], [30.0, 0.0, -30.0]])
LABELS = torch.tensor([0, 2])
NAN, INF = float("nan"), float("inf")


def filled(value):
    out = PROBS.clone()
    out[1, 2] = value
    return out


ROWS = torch.full((6, 3), 1 / 3, dtype=torch.float64)


test_what_is_wrong_is_named_with_its_remedy = refusals.table("""
    validate.predictions(ROWS.T, torch.zeros(6).long()) -> ValueError: ...are transposed
    validate.probs(ROWS[:, 0]) -> ValueError: ...torch.stack([1 - s, s]
    validate.probs(ROWS.view(1, 6, 3)) -> ValueError: ...reshape(-1, K)
    validate.labels(torch.eye(3)[[0, 1, 2] * 2].long(), n=6, classes=3) -> ValueError: ...labels.arg
    validate.probs(100 * ROWS) -> ValueError: ...per cent: pass probs / 100
    validate.probs(5 * ROWS.numpy()) -> ValueError: ...scipy.special.softmax(probs, axis=1)
    validate.probs(ROWS.numpy().astype(int)) -> TypeError: ...probs.astype(float)
    validate.labels(np.ones(6), n=6, classes=3) -> TypeError: ...labels.astype(int)
    validate.labels([-100] * 6, n=6, classes=3) -> ValueError: ...labels != -100
    validate.labels([255] * 6, n=6, classes=3) -> ValueError: ...labels != 255
    validate.labels([7] * 6, n=6, classes=3) -> ValueError: ...number the classes from 0
    validate.probs(filled(NAN), "p") -> ValueError: p must be finite, got nan at index (1, 2)
    validate.probs(filled(1.5), "p") -> ValueError: p must lie in [0, 1], got values from 0.1 to 1.5
    validate.probs(filled(0.9), "p") -> ValueError: p must have rows that sum to 1, got 1.1 in row 1
    validate.probs(filled(0.8002), "p") -> ValueError: p must have rows that sum to 1
    validate.probs(PROBS.to_sparse()) -> TypeError: ...got torch.sparse_coo; pass probs.to_dense
    validate.probs(PROBS.to(torch.float8_e4m3fn)) -> TypeError: ...must be floating point, got
    validate.probs(torch.tensor([[0.7, 0.2]])) -> ValueError: ...divide each row by its sum or pass
    validate.labels(LABELS, n=2, classes=3, device="meta", of="them") -> ValueError: ...but them are
    validate.finite("x", filled(-INF)) -> ValueError: x must be finite, got -inf at index (1, 2)
    validate.number("x", True, 0, 1) -> TypeError: x must be a number
    validate.fraction("x", 20) -> ValueError: x must lie in [0, 1], got 20; it is a fraction
    validate.generator(torch.Generator(), "meta") -> ValueError: ...torch.Generator('meta')
""")


def test_what_is_right_passes_as_it_is():
    assert validate.as_tensor("x", [[1.0, 2.0]], ndim=2).tolist() == [[1.0, 2.0]]
    assert validate.as_tensor("x", np.array([1, 2]), ndim=1).dtype == torch.int64
    assert validate.as_tensor("x", [0.6]).dtype == torch.float64  # 0.6 of float32 lies above 0.6
    assert validate.as_tensor("x", PROBS) is validate.floating("x", PROBS, ndim=2) is PROBS
    assert validate.finite("x", LOGITS) is validate.logits(LOGITS) is LOGITS
    assert validate.probs(PROBS) is PROBS
    assert validate.probs(PROBS.double().numpy()).dtype == torch.float64
    validate.probs(torch.tensor([[0.0, 1.0], [0.5, 0.50009], [0.5, 0.49991]]))
    assert validate.labels(LABELS.int(), n=2, classes=3).dtype == torch.int64
    for check, good in ((validate.predictions, PROBS), (validate.scores, LOGITS)):
        first, second = check(good, LABELS.int())
        assert first is good
        assert (second.tolist(), second.dtype) == ([0, 2], torch.int64)
    for value in (2, np.float32(2), torch.tensor(2.0)):
        assert type(validate.number("x", value, 2, 3)) is float
    assert validate.number("x", 3, 0, 3) == 3
    assert [validate.fraction("x", x) for x in (0.2, -1e-7, 1 + 1e-7)] == [0.2, 0, 1]  # rounded
    for value in (3, np.int16(3), torch.tensor(3)):
        assert validate.integer("x", value, 3) == validate.integer("x", value, 0, 3) == 3
    assert validate.choice("x", "a", ("a", "b")) == "a"


def test_generators():
    first, second = (torch.rand(3, generator=validate.generator(7)) for _ in range(2))
    assert torch.equal(first, second)
    own = torch.Generator()
    assert validate.generator(own) is own
    one, other = (torch.rand(3, generator=validate.generator(None)) for _ in range(2))
    assert not torch.equal(one, other)


@pytest.mark.parametrize("classes", [2, 10, 1_000])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("scale", [0.1, 5.0])
def test_probabilities_of_16_bits_are_used_as_they_are_in_float64(classes, dtype, scale):
    logits = torch.randn(2_000, classes, generator=torch.Generator().manual_seed(1)) * scale
    exponentials = (logits - logits.amax(1, keepdim=True)).to(dtype).exp()
    rounded, inside = logits.softmax(1).to(dtype), logits.to(dtype).softmax(1)
    for rows in (rounded, inside, exponentials / exponentials.sum(1, keepdim=True)):
        checked = validate.probs(rows)
        assert checked.dtype == torch.float64
        assert torch.equal(checked, rows.double())


@pytest.mark.parametrize(
    ("dtype", "off"), [(torch.float16, 0.01), (torch.bfloat16, 0.06), (torch.float16, -0.01)]
)
def test_rows_of_16_bits_that_are_wrong_are_refused(dtype, off):
    rows = torch.full((3, 10), 0.1, dtype=dtype)
    rows[1, 4] += off
    with pytest.raises(ValueError, match=r"sum to 1, got .* in row 1"):
        validate.probs(rows)
    for value in (NAN, -0.1, 1.5):
        rows[1, 4] = value
        with pytest.raises(ValueError, match=r"must (be finite|lie in)"):
            validate.probs(rows)


def written(probs, decimals):
    """As a CSV of so many decimals gives them back."""
    return torch.from_numpy(np.round(probs.double().numpy(), decimals))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("decimals", [3, 5])
@pytest.mark.parametrize("classes", [2, 50])
def test_probabilities_of_a_rounded_csv_are_taken_as_they_are(dtype, decimals, classes):
    generator = torch.Generator().manual_seed(3)
    probs = torch.randn(2_000, classes, generator=generator, dtype=torch.float64).softmax(1)
    rows = written(probs, decimals).to(dtype)
    checked = validate.probs(rows)
    assert torch.equal(checked, rows)
    assert validate.look_like_probs(rows)
    labels = probs.multinomial(1, generator=generator)[:, 0]
    for metric in (metrics.ece, metrics.brier, metrics.nll):
        assert metric(rows, labels) == pytest.approx(metric(probs, labels), rel=0.02, abs=2e-3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rows_that_were_kept_in_16_bits_are_taken_in_longer_ones(dtype):
    probs = (3 * torch.randn(500, 10, generator=torch.Generator().manual_seed(3))).softmax(1)
    kept = probs.to(dtype)
    assert (kept.double().sum(1) - 1).abs().max() > validate.ROW_SUM_TOLERANCE
    assert torch.equal(validate.probs(kept.float()), kept.float())
    assert torch.equal(validate.probs(kept.double()), kept.double())
    if dtype == torch.float16:  # as a text shows them
        shown = torch.from_numpy(kept.numpy().astype("U").astype(float))
        assert torch.equal(validate.probs(shown), shown)
    with pytest.raises(ValueError, match="rows that sum to 1"):
        validate.probs(probs * 0.997)


def test_many_rows_of_two_decimals_are_refused_with_their_remedy():
    probs = torch.randn(500, 50, generator=torch.Generator().manual_seed(3)).softmax(1)
    with pytest.raises(ValueError, match="rounded to 2 decimals: store 3 or more"):
        validate.probs(written(probs, 2))


def test_many_classes_of_three_decimals_may_miss_a_twentieth_at_the_most():
    assert validate.row_sum_tolerance(torch.float64, 1000, 3) == validate.MOST_OFF
    assert validate.row_sum_tolerance(torch.float64, 1000, 6) == pytest.approx(5e-4)
    assert validate.row_sum_tolerance(torch.float64, 10, None) == 1e-4


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.uint32, torch.uint64])
def test_unsigned_labels(dtype):
    assert validate.labels(LABELS.to(dtype), n=2, classes=3).tolist() == [0, 2]
    assert validate.labels(LABELS.to(dtype).numpy(), n=2, classes=3).dtype == torch.int64
    assert metrics.ece(PROBS, LABELS.to(dtype)) == metrics.ece(PROBS, LABELS)
    largest = torch.iinfo(dtype).max
    with pytest.raises(ValueError, match=rf"must lie in \[0, 3\) for 3 classes, got {largest};"):
        validate.labels(np.array([0, largest], dtype=str(dtype)[6:]), n=2, classes=3)
