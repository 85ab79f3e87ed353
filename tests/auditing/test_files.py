"""Files of predictions: what is understood, and what is refused in words."""

import re

import numpy as np
import pandas as pd
import pytest
import torch

from calibkit import __main__, auditing
from calibkit.auditing import files
from tests.auditing.test_audit import drawn

Z, Y = drawn(400, 3, truth=0.6)
PROBS = Z.softmax(1).numpy()
NAMES = ["cat", "dog", "eel"]


def table(**more):
    columns = {f"p_{name}": PROBS[:, k] for k, name in enumerate(NAMES)}
    return pd.DataFrame(columns | {"label": [NAMES[k] for k in Y]} | more)


@pytest.fixture
def folder(tmp_path):
    """The same predictions in several forms."""
    table().to_csv(tmp_path / "words.csv", index=False)
    np.savez(tmp_path / "usual.npz", logits=Z.numpy(), labels=Y.numpy(), camera=Y.numpy() % 2)
    numbered = table(label=Y.numpy()).rename(
        columns={f"p_{n}": str(k) for k, n in enumerate(NAMES)}
    )
    numbered.to_csv(tmp_path / "numbers_only.csv", index=False)
    np.save(tmp_path / "z.npy", Z.numpy())
    np.save(tmp_path / "y.npy", Y.numpy())
    return tmp_path


def test_scores_on_disk_stay_there(folder):
    given = files.read(folder / "z.npy", labels=folder / "y.npy", kind="logits")
    assert isinstance(given.scores, np.memmap)


def written(path, labels, scores, *, head="label,cat,dog,eel", apart=","):
    """A table as somebody's program or spreadsheet wrote it, from texts."""
    rows = [apart.join([label, *row]) for label, row in zip(labels, scores, strict=True)]
    path.write_text("\n".join([*([head] if head else []), *rows, ""]), encoding="utf-8")
    return path


ROUNDED = [[f"{p:.4f}" for p in row] for row in PROBS]
WORDS = [NAMES[k] for k in Y]


def test_the_command_writes_the_page(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert __main__.main(["audit", "words.csv", "--other", "words.csv"]) == 0
    assert "ECE" in capsys.readouterr().out
    page = (folder / "audit.html").read_text(encoding="utf-8")
    assert "<title>Calibration audit of words</title>" in page
    assert "Beside words" in page
    done = ["audit", "usual.npz", "--groups", "camera", "--calibration", "usual.npz"]
    assert __main__.main([*done, "--target", "b.html", "--name", "ours"]) == 0
    assert "calibrated on the test" in capsys.readouterr().out
    assert "Group by group" in (folder / "b.html").read_text(encoding="utf-8")


def test_the_options_reach_the_file(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    frame = table(status=np.where(Y == 1, "dog", "other"))
    frame.loc[3, "p_dog"] = np.nan
    frame.to_csv("one.csv", index=False)
    asked = ["--label", "status", "--scores", "p_dog", "--positive", "dog", "--drop-missing"]
    assert __main__.main(["audit", "one.csv", *asked]) == 0
    said = capsys.readouterr().out
    assert "labels from 'status', scores from p_dog; not used: p_cat, p_eel, label;" in said
    assert "1 of 400 rows left out; positive class 'dog'" in said
    assert "399 samples, 2 classes" in said
    table(label=Y.numpy() + 1).to_csv("from_one.csv", index=False)
    assert __main__.main(["audit", "from_one.csv"]) == 2
    assert "--first-class 1" in capsys.readouterr().err
    assert __main__.main(["audit", "from_one.csv", "--first-class", "1"]) == 0
    assert __main__.main(["audit", "from_one.csv", "--first-class", "1", "--kind", "percent"]) == 2
    assert "--kind probs" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["missing/a.html", "."])
def test_a_page_that_cannot_be_written_is_refused_before_the_work(
    folder, target, capsys, monkeypatch
):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(auditing, "audit_files", None)  # would raise
    assert __main__.main(["audit", "words.csv", "--target", target]) == 2
    assert capsys.readouterr().err.startswith(f"calibkit: cannot write {target}: ")


def test_a_second_file_may_have_its_columns_in_another_order(folder, tmp_path):
    turned = table()[["p_eel", "label", "p_cat", "p_dog"]]
    turned.to_csv(tmp_path / "turned.csv", index=False)
    turned.assign(label=turned["label"].map({"cat": "dog", "dog": "eel", "eel": "cat"})).to_csv(
        tmp_path / "others.csv", index=False
    )
    found = auditing.audit_files(
        folder / "words.csv", calibration=tmp_path / "turned.csv", other=tmp_path / "turned.csv"
    )
    assert found.other["ece"].value == pytest.approx(found.measures["ece"].value, abs=1e-12)
    apart = auditing.audit_files(folder / "words.csv", calibration=folder / "words.csv")
    assert found.cooling.value == pytest.approx(apart.cooling.value, rel=1e-9)
    with pytest.raises(ValueError, match="other labels than"):
        auditing.audit_files(
            folder / "words.csv", other=tmp_path / "others.csv", columns_as_named=True
        )
    with pytest.raises(ValueError, match="must have the same classes"):
        auditing.audit_files(folder / "words.csv", calibration=folder / "numbers_only.csv")


def put(words):
    return lambda path: path.write_text(words, encoding="utf-8")


def bare(labels, scores, head=None):
    return lambda path: written(path, labels, scores, head=head)


@pytest.mark.parametrize(("name", "make", "words"), [
    ("none.csv", None, "no file"),
    ("a.xlsx", put("x"), "cannot read a.xlsx"),
    ("a.txt", put("x"), "must hold a header"),
    ("empty.csv", put(""), "empty.csv is empty"),
    ("head.csv", put("label,a,b\n"), "must hold a header"),
    ("no_label.csv", put("a,b\n.5,.5\n"), "usual name holds labels"),
    ("no_scores.csv", put("label,a\n0,x\n1,y\n"), "usual name holds scores"),
    ("bare.csv", bare(WORDS, ROUNDED), "no header: the columns are called column_1"),
    ("digits.csv", bare("01", ["23", "45"]), "no header"),
    ("gap.csv", bare(["", *WORDS[1:]], ROUNDED, "label,cat,dog,eel"), "1 of 400 rows"),
    ("alone.csv", bare(WORDS, [["ape", "0.9"]] * 400, "label,predicted,confidence"),
     "is called a confidence"),
    ("bytes.csv", lambda p: p.write_bytes(b"\xff\xfe\x00a,\x9c\n\x80\n"), "no text in utf-16"),
    ("a.npz", lambda p: p.write_bytes(b"PK\x03\x04rubbish"), "damaged|no archive"),
    ("b.npz", lambda p: np.savez(p, a=PROBS, b=PROBS), "usual name holds labels"),
    ("c.npz", lambda p: np.savez(p, a=np.array([{}], object)), "no file of arrays"),
    ("d.npy", lambda p: np.save(p, PROBS), "scores alone"),
    ("e.pt", lambda p: torch.save(PROBS.sum, p), "no file of tensors"),
    ("f.pt", lambda p: torch.save(3.5, p), "dictionary of tensors"),
    ("g.csv", lambda p: table(label=-7).to_csv(p, index=False), "usual name holds labels"),
    ("longer.csv", put("i,y,p\n" + "1,a,.5,.3,.2\n2,b,.1,.1,.8\n" * 9), "rows have 5 values"),
    ("fold.csv", put("label,p_0,p_1\n" + "0,.5,.5,fold0\n1,.2,.8,fold1\n" * 9), "have 4 values"),
    ("twice.csv", put("label,p,p\n0,.1,.2\n1,.5,.6\n"), "several columns 'p'"),
    ("cut.csv.gz", put("x"), "cannot be unpacked"),
    ("blanks.txt", put("label p\n0 .5\n1 .2 x\n0 .1\n"), "2 columns that blanks part"),
    ("le.csv", lambda p: p.write_bytes("label,p\n0,.5\n".encode("utf-16-le")), "its --encoding"),
    ("rows.json", put("[1, 2]"), "must hold one JSON record a line"),
    ("cut.jsonl", put('{"a": 1}\n{'), "holds no JSON record a line"),
    ("h.csv", lambda p: table(p_cat=np.nan).to_csv(p, index=False), "p_cat.* holds no numbers"),
])  # fmt: skip
def test_a_wrong_file_is_refused_in_words(tmp_path, capsys, name, make, words):
    if make:
        make(tmp_path / name)
    assert __main__.main(["audit", str(tmp_path / name)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("calibkit: ")
    assert re.search(words, said)
    assert said.count("\n") <= 12


def test_a_reader_that_has_enough_ends_the_command_quietly(folder, monkeypatch):
    closed = []

    def piped(*_, **options):
        raise BrokenPipeError

    monkeypatch.setattr(auditing, "audit_files", piped)
    monkeypatch.setattr(__main__, "_close_output", lambda: closed.append(True))
    target = str(folder / "a.html")
    assert __main__.main(["audit", str(folder / "words.csv"), "--target", target]) == 0
    assert closed
