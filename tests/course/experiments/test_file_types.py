"""A deployed network on files: the stored walk, and walks of folders that a learner names."""

import json
import sys

import numpy as np
import pytest

from calibkit.course.experiments import file_types


@pytest.fixture
def folder(tmp_path):
    """Three files whose type is plain, one whose ending names none, one that is too short."""
    (tmp_path / "a.py").write_text(
        "import os\n\n\ndef f(x):\n    return os.path.join(x, 'y')\n" * 9, encoding="utf-8"
    )
    (tmp_path / "c.html").write_text(
        "<!DOCTYPE html><html><head></head><body>" + "<p>words" * 99, encoding="utf-8"
    )
    (tmp_path / "d.nothing").write_text("words " * 99, encoding="utf-8")
    (tmp_path / "e.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "b.JSON").write_text(
        json.dumps({"name": [1, 2, 3], "of": {"a": None}}, indent=2), encoding="utf-8"
    )
    return tmp_path


def test_the_stored_walks_are_of_the_same_files():
    whole, first = file_types.stored()
    assert (whole.meant == first.meant).all()
    assert (whole.size == first.size).all()
    assert 1 in whole.temperatures
    assert whole.paths == ()
    for walk in (whole, first):
        t, n = walk.confidence.shape
        assert (t, n) == walk.nll.shape == (len(walk.temperatures), len(walk.said))
        assert (np.diff(walk.confidence.astype(float), axis=0) <= 1e-3).all()  # cooler, less sure
        assert walk.confidence.max() <= 1
        assert (walk.nll >= 0).all()
    assert whole.right.mean() > first.right.mean()


def test_a_walk_agrees_with_the_public_call(folder):
    magika = pytest.importorskip("magika")
    walk = file_types.walk([folder])
    assert sorted(path.name for path in walk.paths) == ["a.py", "b.JSON", "c.html"]
    assert walk.right.all()
    assert walk.trusted.all()
    one = walk.temperatures.tolist().index(1.0)
    public = [magika.Magika().identify_path(path).prediction for path in walk.paths]
    assert walk.said.tolist() == [str(told.dl.label) for told in public]
    assert walk.confidence[one] == pytest.approx([told.score for told in public], abs=1e-3)
    label = walk.said == walk.meant  # where the ending is right the nll is of the confidence
    assert walk.nll[one][label] == pytest.approx(-np.log(walk.confidence[one][label]))


def test_first_bytes_and_most_files(folder):
    pytest.importorskip("magika")
    for k in range(5):
        (folder / f"more{k}.py").write_text("import os\n" * 20, encoding="utf-8")
    assert len(file_types.found([folder], most=2)) == 4
    whole, few = file_types.walk([folder]), file_types.walk([folder], first=8)
    assert few.confidence[8].mean() < whole.confidence[8].mean()


def test_a_folder_without_such_files_is_refused(tmp_path):
    pytest.importorskip("magika")
    with pytest.raises(ValueError, match="found none"):
        file_types.walk([tmp_path])


def test_without_magika_the_remedy_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "magika", None)
    file_types.network.cache_clear()
    with pytest.raises(ImportError, match="python -m pip install magika"):
        file_types.walk([tmp_path])
    file_types.network.cache_clear()
