"""The collected verdicts: read from outputs, joined with the list of claims."""

import nbformat
import pytest

from calibkit.__main__ import main
from calibkit.course import checkout, claims, verdicts

PAGE = "# Claims\n\nWords.\n\n| id |\n"
LIST = """# Claims in detail

| id | claim | tested | what follows here | what | source | where | the source's own figure |
|---|---|---|---|---|---|---|---|
| X1 | mixup | narrower | no | mixup lowers ECE | E | 12 | 4.1 to 2.1 % |
| X2 | entropy | checked | as said | label entropy | E | 12 | |
"""


def write(folder, name, *texts):
    outputs = [nbformat.v4.new_output("stream", name="stdout", text=text) for text in texts]
    cell = nbformat.v4.new_code_cell("...", outputs=outputs)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), folder / f"{name}.ipynb")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / claims.PAGE).write_text(PAGE, encoding="utf-8")
    (tmp_path / claims.DETAIL).write_text(LIST, encoding="utf-8")
    one = verdicts.judge("X1", "mixup lowers ECE", [-0.1, -0.11, -0.12], expect="below")
    other = verdicts.judge("X1", "it lowers OE | much", [0.1, 0.11, 0.12], expect="below")
    write(tmp_path, "12_mixup", f"some words\n{one}\n", f"{other}\n")
    write(tmp_path, "00_start", str(verdicts.judge("00a", "a thing", [1.0, -1.0])) + "\n")
    return tmp_path


def test_what_a_verdict_prints_is_what_the_list_of_claims_reads(folder):
    found = claims.printed(folder)
    assert [(p.notebook, p.verdict.claim, p.verdict.word, p.verdict.seeds) for p in found] == [
        ("00_start", "00a", "INCONCLUSIVE", 2),
        ("12_mixup", "X1", "HOLDS", 3),
        ("12_mixup", "X1", "REVERSED", 3),
    ]
    assert found[1].verdict.measured == "-0.110 [-0.135, -0.085]"
    assert found[2].verdict.statement == "it lowers OE | much"


def test_the_table_sets_them_beside_the_sources_figures(folder):
    text = claims.table(claims.printed(folder), claims.listed(folder / claims.DETAIL))
    measured = "-0.110 [-0.135, -0.085]"
    assert f"| X1 | HOLDS | mixup lowers ECE | {measured} | 3 | 12 | 4.1 to 2.1 % |" in text
    counts = "3 verdicts: 1 HOLDS, 0 NOT SPECIFIC, 0 NOT MET, 1 REVERSED, 1 INCONCLUSIVE; 0 post"
    assert counts in text
    assert "Without a verdict: X2" in text


def test_each_claim_of_the_list_has_its_line(folder):
    listed = [claims.Claim(name, *[""] * 7) for name in ("X1", "X2", "X3")]
    found = [("12", "X1", "X1, 2 verdicts (1 HOLDS, 1 REVERSED): on digits | alone")]
    late = verdicts.judge("X2", "late", [0.1, 0.11])
    printed = [claims.Printed("13_shift", late), claims.Printed("17_audit", late)]
    lines = claims.conclusions_table(found, printed, listed).splitlines()
    assert lines[2:] == [
        "| X1 | 1 HOLDS, 1 REVERSED | on digits \\| alone | 12 |",
        "| X2 | 2 HOLDS | – | 13, 17 |",
        "| X3 | – | – | – |",
    ]


def test_a_verdict_of_an_unlisted_claim_and_an_uneven_row_are_errors(folder, tmp_path):
    write(folder, "13_shift", str(verdicts.judge("S9", "new", [1.0, 1.1])) + "\n")
    with pytest.raises(ValueError, match="S9"):
        claims.table(claims.printed(folder), claims.listed(folder / claims.DETAIL))
    (folder / claims.DETAIL).write_text(LIST + "| X3 | short | E |\n", encoding="utf-8")
    with pytest.raises(ValueError, match="8 cells"):
        claims.listed(folder / claims.DETAIL)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="calibkit course"):
        claims.printed(tmp_path / "empty")


def test_the_course_of_this_checkout_is_complete(capsys):
    """Every verdict that the committed notebooks print has its row, and every row a place."""
    assert main(["claims"]) == 0
    printed = capsys.readouterr().out
    for row in claims.listed(checkout.root() / "notebooks" / claims.DETAIL):
        assert row.claim in printed
        assert row.where


@pytest.fixture
def with_evidence(folder):
    one = verdicts.judge("X1", "mixup lowers ECE", [-0.1, -0.11, -0.12], expect="below")
    more = verdicts.judge("X1", "after T, too", [-0.1, -0.11, -0.12], expect="below")
    (folder / "evidence").mkdir()
    (folder / "results" / "laptop").mkdir(parents=True)
    write(folder / "evidence", "12_mixup", f"{verdicts.conclude('X1', [one, more], 'it does')}\n")
    return folder


def test_a_verdict_of_a_lesson_and_its_evidence_counts_once(with_evidence):
    found = [(p.notebook, p.lesson, p.verdict.statement) for p in claims.printed(with_evidence)]
    assert found == [
        ("00_start", "00", "a thing"),
        ("12_mixup", "12", "it lowers OE | much"),
        ("evidence/12_mixup", "12", "mixup lowers ECE"),
        ("evidence/12_mixup", "12", "after T, too"),
    ]


def test_the_summary_counts_what_is_as_trained_apart_and_stands_on_the_page(with_evidence):
    told = [
        verdicts.judge("X1", f"{k}", [0.36, 0.37, 0.38], as_trained=k > 0, post_hoc=k < 3)
        for k in range(4)
    ]
    write(with_evidence, "13_shift", "".join(f"{verdict}\n" for verdict in told))
    claims.keep_conclusions(with_evidence)
    page = (with_evidence / claims.PAGE).read_text(encoding="utf-8")
    counted = "3 HOLDS, 1 REVERSED (1 post hoc) | 3 HOLDS (2 post hoc)"
    assert f"| X1 | mixup | narrower | no | {counted} | 12, 13 |\n" in page
    assert "| X2 | entropy | checked | as said | – | – | – |\n" in page
    assert page.startswith("# Claims\n\nWords.\n\n| id | claim |")
    assert "\n\n8 verdicts: 6 HOLDS," in page
    claims.keep_conclusions(with_evidence)
    assert (with_evidence / claims.PAGE).read_text(encoding="utf-8") == page


def test_the_page_of_this_checkout_has_the_summary():
    home = checkout.root() / "notebooks"
    listed = claims.listed(home / claims.DETAIL)
    page = (home / claims.PAGE).read_text(encoding="utf-8")
    assert claims.summary(claims.printed(home), listed) in page
    assert len(listed) == 53


def test_a_lesson_shows_the_conclusion_that_its_evidence_drew(with_evidence, monkeypatch):
    claims.keep_conclusions(with_evidence)
    monkeypatch.chdir(with_evidence)
    assert claims.concluded("12", "X1") == "X1, 2 verdicts (2 HOLDS): it does"
    with pytest.raises(ValueError, match="one of X1 in 12, got 'X2'"):
        claims.concluded("12", "X2")
