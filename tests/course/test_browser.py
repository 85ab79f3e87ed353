"""Pages that compute in the browser: how they are put together, before any browser opens them."""

import json
import re

import pytest
import torch

import calibkit
from calibkit import __main__
from calibkit.auditing import intervals
from calibkit.course import browser, checkout
from calibkit.lab.data.handwriting import all_digits

LESSONS = {"05": "05_dataset_size.html", "06": "06_label_noise.html"}
PLAYGROUND = browser.HERE / "playground"


def block(page, name):
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)
    return json.loads(found[1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a test writes modules of its own."""
    monkeypatch.setattr(browser, "HERE", tmp_path)
    return tmp_path


def write(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder / "main.js"


def test_modules_stand_once_each_and_after_those_that_they_import(folder):
    entry = write(
        folder,
        main='import { a } from "./first.js";\nimport {\n  b,\n} from "./second.js";\na(b);\n',
        first='import { b } from "./second.js";\nexport function a() { return b; }\n',
        second="export const b = 1;\n",
    )
    code = browser.script(entry)
    order = re.findall(r"// ---- (\w+)\.js ----", code)
    assert order == ["second", "first", "main"]
    assert "return { b, a };\n})();\n" in code
    assert not re.search(r"^(import|export)", code, re.M)


USES = 'import { a } from "./other.js";\n'


@pytest.mark.parametrize(("texts", "words"), [
    ({"main": USES, "other": "const a = 1;\n"}, "imports a, not"),
    ({"main": USES}, "no such file"),
    ({"main": f"{USES}export const b = 1;\n",
      "other": 'import { b } from "./main.js";\nexport const a = 1;\n'},
     "main.js imports other.js imports main.js"),
    ({"main": f'{USES}import {{ c }} from "./third.js";\n', "other": "export const a = 1;\n",
      "third": "export const a = 2;\nexport const c = 2;\n"},
     "a is exported by other.js and by third.js"),
    ({"main": 'import all from "./other.js";\n'}, "cannot read"),
    ({"main": "export default 1;\n"}, "cannot read"),
    ({"main": 'const end = "</script>";\n'}, "end tag"),
])  # fmt: skip
def test_modules_that_cannot_become_one_script_are_refused(folder, texts, words):
    with pytest.raises(browser.BrowserPageError, match=words):
        browser.script(write(folder, **texts))


def test_a_template_has_each_place_once(folder):
    entry, template = write(folder, main="export const a = 1;\n"), folder / "page.html"
    places = "{{ policy }}{{ style }}{{ data }}{{ script }}{{ more }}"
    template.write_text(places, encoding="utf-8")
    with pytest.raises(browser.BrowserPageError, match="each place once"):
        browser.assemble(template, entry, [], {})
    made = browser.assemble(template, entry, [], {"words": "</script>{{ style }}"}, {"more": "!"})
    assert made.count("</script>") == 1
    assert block(made, "words") == "</script>{{ style }}"
    assert made.endswith("!")


@pytest.mark.parametrize(("command", "page"), [
    ("play", browser.playground),
    ("audit-page", browser.audit),
    ("own-diagram", browser.own_diagram),
])  # fmt: skip
def test_a_command_writes_a_page_whose_policy_forbids_every_connection(
    tmp_path, capsys, command, page
):
    target = tmp_path / "new" / "page.html"
    assert __main__.main([command, str(target)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("open ")
    assert ("page.html#class" in said) == (command == "own-diagram")
    text = page()
    assert target.read_text("utf-8") == text
    assert "default-src 'none'" in text
    assert "connect-src" not in text  # so that none is allowed
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", text)
    assert __main__.main([command, str(tmp_path)]) == 0
    assert (tmp_path / "index.html").exists()
    home = '<a href="index.html">The course</a>'
    assert home in page(home=home)
    assert "<nav" not in text


def test_the_page_holds_the_digits_as_they_are():
    page = browser.playground(LESSONS)
    assert block(page, "lessons") == LESSONS
    lines = block(page, "digits").splitlines()
    images, labels = all_digits()
    read = torch.tensor([[ord(letter) - 97 for letter in line[1:]] for line in lines])
    assert torch.equal(read / 16, images.flatten(1))
    assert [int(line[0]) for line in lines] == labels.tolist()


def test_every_setting_is_linked_to_a_lesson_of_the_course():
    numbers = {path.name[:2] for path in (checkout.root() / "notebooks").glob("*.ipynb")}
    named = re.findall(r'lesson: "(\d\d)"', (PLAYGROUND / "settings.js").read_text("utf-8"))
    assert len(named) >= 15
    assert set(named) <= numbers


def test_the_page_of_an_audit_links_the_lesson_only_where_it_stands_beside_it():
    named = "Lesson 17"
    assert f'<a href="17.html">{named}</a>' in browser.audit(lesson="17.html")
    alone = browser.audit()
    assert named in alone
    assert "17.html" not in alone


def test_the_page_of_an_audit_knows_which_intervals_are_to_be_trusted():
    table = block(browser.audit(), "trust")
    assert table == {name: list(intervals.LEAST[name]) for name in ("aurc", "aurc paired", "auc")}
    assert block(browser.audit(), "version") == calibkit.__version__
