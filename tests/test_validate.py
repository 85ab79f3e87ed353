import numpy as np
import pytest
import torch

from calibkit import metrics, validate

PROBS = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
LOGITS = torch.tensor([[2.0, -1.0, 0.5], [30.0, 0.0, -30.0]])
LABELS = torch.tensor([0, 2])
NAN, INF = float("nan"), float("inf")


def filled(value):
    out = PROBS.clone()
    out[1, 2] = value
    return out


ROWS = torch.full((6, 3), 1 / 3, dtype=torch.float64)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: validate.predictions(ROWS.T, torch.zeros(6).long()), "are transposed"),
        (lambda: validate.probs(ROWS[:, 0]), r"2 dimension.*torch.stack\(\[1 - s, s\]"),
        (lambda: validate.probs(ROWS.view(1, 6, 3)), r"reshape\(-1, K\)"),
        (
            lambda: validate.labels(torch.eye(3)[[0, 1, 2] * 2].long(), n=6, classes=3),
            r"labels.argmax\(1\)",
        ),
        (lambda: validate.probs(100 * ROWS), r"per cent: pass probs / 100"),
        (lambda: validate.probs(5 * ROWS.numpy()), r"scipy.special.softmax\(probs, axis=1\)"),
        (lambda: validate.probs(ROWS.numpy().astype(int)), r"probs.astype\(float\)"),
        (lambda: validate.labels(np.ones(6), n=6, classes=3), r"labels.astype\(int\)"),
        (lambda: validate.labels([-100] * 6, n=6, classes=3), "labels != -100"),
        (lambda: validate.labels([255] * 6, n=6, classes=3), "labels != 255"),
        (lambda: validate.labels([7] * 6, n=6, classes=3), "number the classes from 0"),
    ],
)
def test_common_slips_are_met_with_their_remedy(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_as_tensor_takes_lists_arrays_and_tensors():
    assert validate.as_tensor("x", [[1.0, 2.0]], ndim=2).tolist() == [[1.0, 2.0]]
    assert validate.as_tensor("x", np.array([1, 2]), ndim=1).dtype == torch.int64
    assert validate.as_tensor("x", PROBS) is PROBS
    for bad in ("text", None, [[1], [1, 2]], object()):
        with pytest.raises(TypeError, match=r"^x must be a tensor or array of numbers"):
            validate.as_tensor("x", bad)
    with pytest.raises(ValueError, match=r"^x must have 1 dimension\(s\), got shape \(2, 3\)"):
        validate.as_tensor("x", PROBS, ndim=1)
    with pytest.raises(ValueError, match=r"^x is empty \(shape \(0, 3\)\)"):
        validate.as_tensor("x", PROBS[:0])


def test_floating_and_finite():
    assert validate.floating("x", PROBS, ndim=2) is PROBS
    with pytest.raises(TypeError, match=r"^x must be floating point, got torch.int64"):
        validate.floating("x", LABELS)
    assert validate.finite("x", LOGITS) is LOGITS
    for value in (NAN, INF, -INF):
        with pytest.raises(ValueError, match=rf"^x must be finite, got {value} at index \(1, 2\)"):
            validate.finite("x", filled(value))


def test_probs_pass_through():
    assert validate.probs(PROBS) is PROBS
    assert validate.probs(PROBS.double().numpy()).dtype == torch.float64
    validate.probs(torch.tensor([[0.0, 1.0]]))
    validate.probs(torch.tensor([[0.5, 0.50009]]))
    validate.probs(torch.tensor([[0.5, 0.49991]]))


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (filled(NAN), ValueError, r"p must be finite, got nan at index \(1, 2\)"),
        (filled(INF), ValueError, r"p must be finite, got inf at index \(1, 2\)"),
        (filled(-0.1), ValueError, r"p must lie in \[0, 1\], got values from -0.1 to 0.7"),
        (filled(1.5), ValueError, r"p must lie in \[0, 1\], got values from 0.1 to 1.5"),
        (LOGITS, ValueError, r"if these are logits pass p.softmax\(dim=1\)"),
        (filled(0.9), ValueError, "p must have rows that sum to 1, got 1.1 in row 1"),
        (filled(0.8002), ValueError, "p must have rows that sum to 1"),
        (filled(0.7998), ValueError, "p must have rows that sum to 1"),
        (PROBS[:, :1], ValueError, r"p must have one column per class, at least 2"),
        (PROBS[0], ValueError, "p must have 2 dimension"),
        (LABELS[None], TypeError, "p must be floating point"),
        (PROBS[:0], ValueError, "p is empty"),
    ],
)
def test_bad_probs(value, kind, message):
    with pytest.raises(kind, match=f"^{message}" if message.startswith("p ") else message):
        validate.probs(value, "p")


def test_default_names():
    for check, name in ((validate.probs, "probs"), (validate.logits, "logits")):
        with pytest.raises(ValueError, match=f"^{name} "):
            check(PROBS[0])
    with pytest.raises(ValueError, match=r"^labels "):
        validate.labels(LABELS, n=3, classes=3)


def test_logits():
    assert validate.logits(LOGITS) is LOGITS
    for value in (filled(NAN), filled(INF)):
        with pytest.raises(ValueError, match=r"^logits must be finite"):
            validate.logits(value)
    with pytest.raises(ValueError, match=r"^logits must have one column per class"):
        validate.logits(LOGITS[:, :1])


def test_labels():
    assert validate.labels(LABELS.int(), n=2, classes=3).dtype == torch.int64
    assert validate.labels([0, 2], n=2, classes=3).tolist() == [0, 2]
    for bad in (LABELS.float(), LABELS > 0):
        with pytest.raises(TypeError, match=r"^labels must be integers"):
            validate.labels(bad, n=2, classes=3)
    with pytest.raises(ValueError, match=r"^labels must have one entry per row, 3, got 2"):
        validate.labels(LABELS, n=3, classes=3)
    with pytest.raises(ValueError, match=r"^labels must lie in \[0, 2\) for 2 classes, got 2"):
        validate.labels(LABELS, n=2, classes=2)
    with pytest.raises(ValueError, match=r"^labels must lie in \[0, 3\) for 3 classes, got -1"):
        validate.labels(torch.tensor([0, -1]), n=2, classes=3)
    with pytest.raises(ValueError, match=r"^labels is on cpu but the predictions are on meta"):
        validate.labels(LABELS, n=2, classes=3, device="meta")
    with pytest.raises(ValueError, match=r"^labels is on cpu but the images are on meta; move"):
        validate.labels(LABELS, n=2, classes=3, device="meta", of="the images")


@pytest.mark.parametrize(
    ("check", "good", "name"),
    [
        (validate.predictions, PROBS, "probs"),
        (validate.scores, LOGITS, "logits"),
    ],
)
def test_pairs(check, good, name):
    first, second = check(good, LABELS.int())
    assert first is good
    assert second.tolist() == [0, 2]
    assert second.dtype == torch.int64
    with pytest.raises(ValueError, match=f"^{name} must have 2 dimension"):
        check(good[0], LABELS)
    with pytest.raises(ValueError, match=f"^{name} must have one column"):
        check(good[:, :1], LABELS)
    with pytest.raises(ValueError, match=r"^labels must have one entry per row"):
        check(good, LABELS[:1])
    with pytest.raises(ValueError, match=r"^labels must lie in \[0, 3\)"):
        check(good, LABELS + 1)
    with pytest.raises(ValueError, match=r"^labels is on cpu"):
        check(good.to("meta"), LABELS)


def test_pairs_look_at_values():
    for check, name in ((validate.predictions, "probs"), (validate.scores, "logits")):
        with pytest.raises(ValueError, match=f"^{name} must be finite"):
            check(filled(NAN), LABELS)


@pytest.mark.parametrize("classes", [2, 3, 64, 65, 1_000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_sum_to_one_within_1e_4(classes, dtype):
    logits = torch.randn(500, classes, generator=torch.Generator().manual_seed(0), dtype=dtype)
    rows = logits.softmax(1)
    assert validate.probs(rows) is rows
    for factor, allowed in ((1.00008, True), (0.99992, True), (1.00012, False), (0.99988, False)):
        other = rows.clone()
        other[7] *= factor
        if allowed:
            validate.probs(other)
        else:
            with pytest.raises(ValueError, match=r"sum to 1, got .* in row 7"):
                validate.probs(other)


@pytest.mark.parametrize("classes", [2, 3, 10, 100, 1_000])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0, 20.0])
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
@pytest.mark.parametrize("decimals", [3, 4, 5, 6])
@pytest.mark.parametrize("classes", [2, 3, 10, 50])
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


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_probabilities_of_two_decimals_are_taken_as_they_are(classes):
    probs = torch.randn(500, classes, generator=torch.Generator().manual_seed(3)).softmax(1)
    rows = written(probs, 2)
    assert (rows.sum(1) - 1).abs().max() > 5e-3 or classes == 2
    assert torch.equal(validate.probs(rows), rows)
    labels = torch.arange(500) % classes
    assert metrics.brier(rows, labels) == pytest.approx(metrics.brier(probs, labels), abs=0.01)


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


@pytest.mark.parametrize("rows", [[[0.7, 0.2]], [[0.333, 0.33]], [[0.5, 0.25, 0.125]]])
def test_rows_that_are_off_by_more_than_their_rounding_are_refused(rows):
    with pytest.raises(ValueError, match=r"sum to 1, got .* divide each row by its sum or pass"):
        validate.probs(rows)


def test_many_classes_of_three_decimals_may_miss_a_twentieth_at_the_most():
    assert validate.row_sum_tolerance(torch.float64, 1000, 3) == validate.MOST_OFF
    assert validate.row_sum_tolerance(torch.float64, 1000, 6) == pytest.approx(5e-4)
    assert validate.row_sum_tolerance(torch.float64, 10, None) == 1e-4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_metrics_take_probabilities_of_16_bits(dtype):
    generator = torch.Generator().manual_seed(2)
    rows = (2 * torch.randn(1_000, 10, generator=generator)).softmax(1)
    labels = torch.randint(10, (1_000,), generator=generator)
    near = {torch.float16: 2e-3, torch.bfloat16: 1e-2}[dtype]
    for metric in (metrics.ece, metrics.brier, metrics.classwise_ece):
        assert metric(rows.to(dtype), labels) == pytest.approx(metric(rows, labels), abs=near)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.uint32, torch.uint64])
def test_unsigned_labels(dtype):
    assert validate.labels(LABELS.to(dtype), n=2, classes=3).tolist() == [0, 2]
    assert validate.labels(LABELS.to(dtype).numpy(), n=2, classes=3).dtype == torch.int64
    assert metrics.ece(PROBS, LABELS.to(dtype)) == metrics.ece(PROBS, LABELS)
    largest = torch.iinfo(dtype).max
    with pytest.raises(ValueError, match=rf"must lie in \[0, 3\) for 3 classes, got {largest};"):
        validate.labels(np.array([0, largest], dtype=str(dtype)[6:]), n=2, classes=3)


def test_sparse_tensors_are_refused_with_the_remedy():
    with pytest.raises(TypeError, match=r"^probs must be dense, got .*; pass probs.to_dense"):
        validate.probs(PROBS.to_sparse())
    with pytest.raises(TypeError, match=r"^labels must be dense"):
        metrics.ece(PROBS, LABELS.to_sparse())


def test_floats_of_8_bits_are_refused():
    with pytest.raises(TypeError, match=r"must be floating point, got torch.float8"):
        validate.probs(PROBS.to(torch.float8_e4m3fn))


def test_number_and_fraction():
    assert validate.number("x", 2, 0, 3) == 2.0
    assert type(validate.number("x", 2, 0, 3)) is float
    assert validate.number("x", np.float32(0.5), 0, 1) == 0.5
    assert validate.number("x", torch.tensor(0.5), 0, 1) == 0.5
    assert validate.number("x", 0, 0, 1) == 0
    assert validate.number("x", 1, 0, 1) == 1
    for value, options, interval in (
        (0, {"open_low": True}, r"\(0, 1\]"),
        (1, {"open_high": True}, r"\[0, 1\)"),
        (-1, {}, r"\[0, 1\]"),
        (2, {}, r"\[0, 1\]"),
        (NAN, {}, r"\[0, 1\]"),
    ):
        with pytest.raises(ValueError, match=f"^x must lie in {interval}, got {value}"):
            validate.number("x", value, 0, 1, **options)
    for bad in ("1", None, True, [0.5], torch.tensor([0.5]), np.array([0.5])):
        with pytest.raises(TypeError, match=r"^x must be a number"):
            validate.number("x", bad, 0, 1)
    assert validate.fraction("x", 0.2) == 0.2
    with pytest.raises(ValueError, match=r"^x must lie in \[0, 1\], got 20; it is a fraction"):
        validate.fraction("x", 20)


def test_integer():
    assert validate.integer("x", 3, 3) == 3
    assert validate.integer("x", np.int16(3), 0, 3) == 3
    assert validate.integer("x", torch.tensor(3), 0) == 3
    with pytest.raises(ValueError, match=r"^x must be at least 3, got 2"):
        validate.integer("x", 2, 3)
    with pytest.raises(ValueError, match=r"^x must be in \[0, 1\], got 2"):
        validate.integer("x", 2, 0, 1)
    for bad in (1.0, True, "1", None, np.array([1])):
        with pytest.raises(TypeError, match=r"^x must be an integer"):
            validate.integer("x", bad, 0)


def test_choice_and_generator():
    assert validate.choice("x", "a", ("a", "b")) == "a"
    with pytest.raises(ValueError, match=r"^x must be one of 'a', 'b', got 'c'"):
        validate.choice("x", "c", ("a", "b"))
    first, second = (torch.rand(3, generator=validate.generator(7)) for _ in range(2))
    assert torch.equal(first, second)
    own = torch.Generator()
    assert validate.generator(own) is own
    one, other = (torch.rand(3, generator=validate.generator(None)) for _ in range(2))
    assert not torch.equal(one, other)
    with pytest.raises(ValueError, match=r"^seed must be at least 0"):
        validate.generator(-1)
    with pytest.raises(ValueError, match=r"^generator is on cpu .*torch.Generator\('meta'\)$"):
        validate.generator(own, "meta")


def test_a_list_of_floats_keeps_its_digits():
    """0.6 is 0.60000002 in float32, which lies above the edge 0.6."""
    assert validate.as_tensor("x", [0.6]).dtype == torch.float64
    assert metrics.reliability([[0.6, 0.4]], [0], bins=10).counts.tolist().index(1) == 5
