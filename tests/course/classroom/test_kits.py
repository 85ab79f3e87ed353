"""A kit is whole: at most 90 minutes, numbers of the lessons alone, nothing left open."""

import re

import pytest

from calibkit import __main__
from calibkit.course import checkout
from calibkit.course.classroom import contents, kits, placeholders
from tests.course.classroom.course import COMMITTED

NAMES = kits.names()
SOURCES = {
    name: (checkout.root() / kits.SOURCES / f"{name}.md").read_text(encoding="utf-8")
    for name in NAMES
}
LINK = re.compile(r"play\.html#([^)\"]+)")
each = pytest.mark.parametrize("name", NAMES)


def numbers_of(name):
    """The lessons of a kit."""
    return re.search(r"^Lessons: (.+)$", SOURCES[name], re.MULTILINE)[1].split()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kits")
    for name in NAMES:
        kits.write(name, folder / name)
    return folder


@each
def test_a_kit_holds_what_a_lecturer_needs(made, name):
    folder = made / name
    files = {path.name for path in folder.iterdir()}
    assert files == {*kits.PAGES, "slides.html", "play.html", "rubric.csv", "student"}
    numbers = numbers_of(name)
    assert [path.name[:2] for path in sorted((folder / "student").glob("*.ipynb"))] == numbers
    for file in files - {"student", "rubric.csv"}:
        text = (folder / file).read_text(encoding="utf-8")
        assert "{{" not in text
        assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", text)
        for target in re.findall(r'href="([^"#]+)', text):
            assert (folder / target).exists(), (file, target)
            assert target.endswith(".html")  # what a browser can show
    for notebook in re.findall(
        r"<code>(student/[^<]+)", (folder / "start_here.html").read_text(encoding="utf-8")
    ):
        assert (folder / notebook).exists(), notebook
    notes = (folder / "notes.html").read_text(encoding="utf-8")
    assert "<math" in notes
    assert notes.count("you reply") == 1
    assert notes.count("known mistakes") >= 1
    assert "a full answer says" in notes
    further = notes.partition("Go further: answers")[2]
    assert "<h3" in further
    assert "Exercise: " not in further
    assert "<math" in (folder / "slides.html").read_text(encoding="utf-8")


def part(name, heading):
    return contents.section(SOURCES[name], heading)


@each
def test_the_plan_fits_90_minutes_and_no_number_of_its_slides_is_typed(name):
    plan = part(name, "Plan")
    assert "estimates" in plan
    rows = re.findall(r"^\| (\d+) \|.*\|\s*([^|]*?)\s*\|$", plan, re.MULTILINE)
    minutes = sum(int(minutes) for minutes, _ in rows)
    assert f"They add up to {minutes}" in plan
    assert 80 <= minutes <= 90
    shown = [int(number) for _, cell in rows for number in re.findall(r"\d+", cell)]
    assert shown == sorted(shown)
    text = part(name, "Slides")
    assert not re.search(r"^(<{7}|>{7}|={7}$)", text, re.MULTILINE)  # what a merge leaves
    assert shown[-1] == len(kits.SLIDE.findall(text))
    assert len(placeholders.PLACE.findall(text)) >= 10
    settings = r"\$\$.*?\$\$|\$.*?\$|play\.html#[^)]*|```.*?```"
    text = re.sub(settings, "", placeholders.PLACE.sub("", text), flags=re.DOTALL)
    assert re.findall(r"[-+]?\d+\.\d+|\d+ ?%|\d+ points", text) == []


@each
def test_a_quiz_has_the_answers_to_its_questions_and_replies_answer_what_students_say(name):
    asked = re.findall(r"\{\{ quiz (.+?) \}\}", part(name, "Quiz"))
    assert asked == re.findall(r"\{\{ answers (.+?) \}\}", part(name, "Quiz answers"))
    assert asked
    rows = re.findall(r"^\| (.*) \| (.*) \| (.*) \|$", part(name, "Answers and replies"), re.M)[1:]
    assert len(rows) >= 8
    assert all(said.startswith('"') and reply for _, said, reply in rows)


@pytest.mark.parametrize(("place", "words"), [
    ("{{ 00 | no such line ([0-9]+) }}", "nothing fits"),
    ("{{ 00 | right on ([\\d.]+%) }}", "different things fit"),
    ("{{ 00 | signed gap }}", "one group"),
    ("{{ 00 | ( }}", "unterminated"),
    ("{{ 99 | x }}", "no lesson starts with"),
    ("{{ figure 00 | no such figure }}", "0 figures"),
    ("{{ slider temperature | 99 }}", "99"),
    ("{{ slider nothing | 1 }}", "nothing"),
    ("{{ readout temperature | 2.8 | nothing ([0-9]) }}", "nothing fits"),
    ("{{ slider temperature | 9.9 }}", "no position 9.9"),
    ("{{ quiz 00 | 9 }}", "has the questions"),
    ("{{ rubric 00 | no such title }}", "no rubric"),
    ("{{ exercise 00 | ece }}", "no such exercise"),
    ("{{ magic 00 | x }}", "there is no magic"),
    ("{{ broken", "cannot be read"),
])  # fmt: skip
def test_a_place_that_nothing_fills_stops_the_kit(place, words):
    with pytest.raises(kits.KitError, match=words):
        placeholders.fill(f"before {place} after")


def test_places_are_filled_from_the_lessons_print_figures_and_sliders():
    said = placeholders.printed(COMMITTED["00_start_here"])
    right = placeholders.fill("{{ 00 | the network: +right on ([\\d.]+%) }}")
    assert f"the network:   right on {right.replace(' ', '')}" in said
    assert placeholders.fill("{{ figure 00 | Eight clean }}").startswith(
        '<figure><img src="data:image/'
    )
    readout = placeholders.fill("{{ readout temperature | 2.8 | (T = .*) }}")
    assert re.match(r"T = 2\.8: signed gap .*, NLL [\d.]+$", readout)
    noisy = placeholders.fill("{{ readout label_noise | 20%, 3 | (Noise .*?): }}")
    assert noisy.replace(" %", "%") == "Noise 20%, epoch 3"


def test_a_source_without_a_part_is_refused(monkeypatch):
    monkeypatch.setattr(kits, "fill", lambda _: "# x\n\nLessons: 00\n\n## Plan\n")
    with pytest.raises(kits.KitError, match="needs a title"):
        kits.read("audit")


def test_the_command_writes_a_kit_and_lists_all(tmp_path, capsys, monkeypatch):
    assert __main__.main(["kit", "list"]) == 0
    assert capsys.readouterr().out.split() == NAMES
    monkeypatch.chdir(tmp_path)
    assert __main__.main(["kit", "audit"]) == 0
    assert "kit_audit" in capsys.readouterr().out
    assert __main__.main(["kit", "audit", str(tmp_path / "new")]) == 0
    assert "start_here.html" in capsys.readouterr().out
    assert __main__.main(["kit", "audit", str(tmp_path / "new")]) == 2
    assert "not empty" in capsys.readouterr().err
    assert __main__.main(["kit", "other"]) == 2
    assert "there are audit" in capsys.readouterr().err


def test_slides_work_without_a_script_and_forbid_all_that_is_not_theirs():
    text = "### One *word*\n\nShown.\n\n> Hidden.\n> More.\n\nShown too.\n\n### Two\n\n$x$\n"
    page = kits.slides("A & B", text)
    assert page.count('<section id="') == 2
    assert page.count("<h1>") == page.count('<aside class="notes"') == 1
    assert page.count("<h2>") == 2
    assert "A &amp; B" in page
    assert "Hidden." not in re.sub(r"<aside.*?</aside>", "", page, flags=re.DOTALL)
    assert "default-src 'none'" in page
    assert page.count("<script>") == 1
