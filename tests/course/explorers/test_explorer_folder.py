"""An explorer as a folder: the module, the page beside it, and what is refused."""

import re

import pytest

from calibkit import __main__ as command
from calibkit.course.explorers import Explorer, storage, stored
from calibkit.course.explorers.explorer import to_be_read
from calibkit.course.explorers.plane import AllNetworks


def test_all_kept_explorers_have_a_name():
    assert {"networks", "label_noise", "temperature"} <= set(storage.names())
    assert len(storage.names()) == len(set(storage.names())) > 20
    assert isinstance(storage.explorer("networks"), AllNetworks)
    assert isinstance(storage.explorer("blend"), Explorer)


def test_the_folder_holds_a_module_and_a_page_that_load_nothing(tmp_path):
    page = storage.write("blend", tmp_path / "new" / "folder")
    module = (page.parent / "blend.mjs").read_text(encoding="utf-8")
    assert sorted(path.name for path in page.parent.iterdir()) == ["blend.mjs", "index.html"]
    assert not re.search(r"^import |\bimport\(|fetch\(|https?://(?!www\.w3\.org)", module, re.M)
    assert to_be_read(stored("blend").packed) in module
    assert module.count("async function unpack") == 1
    assert module.count("export default") == module.count("export const mount") == 1
    assert "rendering(bind)" in module
    assert not re.search("CONTENT|BIND", module)
    text = page.read_text(encoding="utf-8")
    assert stored("blend").html() in text
    assert "{{" not in text
    assert not re.search(r"(src|href)=(?!.data:)", text)
    for way in ('import { mount } from "./blend.mjs"', "```{anywidget} blend.mjs",
                'pathlib.Path("blend.mjs")'):  # fmt: skip
        assert way in text


def test_another_name_and_a_file_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"(?s)name must be .*label_noise.*got 'labels'"):
        storage.write("labels", tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="folder must be a folder, got the file"):
        storage.write("blend", tmp_path / "file")


def test_the_command_prints_names_and_writes_the_folder(tmp_path, capsys, monkeypatch):
    assert command.main(["explorer"]) == 0
    assert capsys.readouterr().out.split() == list(storage.names())
    assert command.main(["explorer", "blend", str(tmp_path / "blend")]) == 0
    assert str(tmp_path / "blend" / "index.html") in capsys.readouterr().out
    assert command.main(["explorer", "nothing", str(tmp_path / "x")]) == 2
    assert "name must be" in capsys.readouterr().err
