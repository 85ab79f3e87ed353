"""The audit in the browser: read as the command reads, or refused; the same numbers; its page."""

import base64
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from calibkit import auditing
from calibkit.auditing import files
from calibkit.auditing import page as audited
from calibkit.course import browser as pages
from tests.auditing.collection import CASES, NAMES, PROBS, WORDS
from tests.auditing.test_random_exports import Export

TEXTS = (".csv", ".tsv", ".txt", ".jsonl", ".json")
FORM = {"first_class": "first", "drop_missing": "drop"}  # names of options on the page
ANSWERS = ("label", "scores", "positive", "kind", "drop_missing")
DISGUISED = range(30)  # seeds of exports that are written as strangers may write them
# What a file says to the page: packed numbers travel faster than lists.
READ = """([bytes, file, options]) => {
  const c = calibkit, packed = numbers => {
    const raw = new Uint8Array(Float64Array.from(numbers).buffer), parts = [];
    for (let at = 0; at < raw.length; at += 30000) {
      parts.push(String.fromCharCode(...raw.subarray(at, at + 30000)));
    }
    return btoa(parts.join(""));
  };
  try {
    const raw = Uint8Array.from(atob(bytes), letter => letter.charCodeAt(0));
    const {scores, labels, rows, kind, names, told} = c.intake(raw, file, options);
    return {scores: packed(scores), labels: packed(labels), rows: packed(rows), kind, names, told};
  } catch (error) {
    if (!(error instanceof c.Refused || error instanceof c.Unsure)) throw error;
    return {refused: error.message, unsure: error instanceof c.Unsure};
  }
}"""
ALL_NUMBERS = """([bytes, file, options]) => {
  const raw = Uint8Array.from(atob(bytes), letter => letter.charCodeAt(0));
  const {trust, version} = calibkit.page;
  return JSON.stringify(calibkit.inOneGo(raw, file, options, trust, version));
}"""
# Their scores are rounded. Rows that tie before the temperature differ by rounding alone after it,
# in the command as on the page; which of them is the surer one, the AURC depends on.
TIED = {"comma.csv": 1e-3, "two_decimals.csv": 3e-3}
LEFT_OUT = ("ece", "ada_ece", "overconfidence_error")


made = pages.audit


@pytest.fixture
def opened(visit, path):
    """Opens the page, which asks nothing of anybody."""

    def opened(**screen):
        page = visit(path, home=path.as_uri(), **screen)
        page.locator("#example").wait_for()
        return page

    return opened


# --- files ---


def given_to(page, what, file, options):
    """What the page makes of a file with the options of the command."""
    form = {
        FORM.get(name, name): value if isinstance(value, bool) else str(value)
        for name, value in options.items()
        if name != "costs"
    }
    if "costs" in options:
        form |= dict(zip(("alarm", "miss"), map(str, options["costs"]), strict=True))
    return page.evaluate(what, [encoded(file), file.name, form])


def encoded(file):
    return base64.b64encode(file.read_bytes()).decode()


def collection(folder):
    """Every file of the audit's own collection that is a text, with and without its options."""
    for case in CASES:
        if not case.name.endswith(TEXTS):
            continue
        case.make(folder / case.name)
        yield folder / case.name, {}
        if case.options and "columns" not in case.options:
            yield folder / case.name, case.options


def disguised(folder):
    """Exports as strangers write them: parted and quoted in other ways, with gaps, with options."""
    for seed in DISGUISED:
        random = np.random.default_rng(seed)
        made = Export(5000 + seed)
        table = pd.DataFrame(made.columns)
        names = list(table)
        for _ in range(random.integers(3)):
            row, name = random.integers(len(table)), names[random.integers(len(names))]
            table[name] = table[name].astype(object)
            table.loc[row, name] = random.choice(["", "NA", "?", "nan", "n/a", " ", "-"])
        table["site"] = random.choice(["Köln", "A, B", 'the "old" one', "7", "x"], len(table))
        apart = str(random.choice([",", ";", "\t", "|"]))
        how = {"sep": apart, "decimal": "," if apart == ";" and random.random() < 0.6 else "."}
        how |= {"quoting": int(random.integers(3)), "index": bool(random.random() < 0.2)}
        how |= {"lineterminator": str(random.choice(["\n", "\r\n"]))}
        how |= {"float_format": [None, "%.3f", "%.6g"][random.integers(3)]}
        how |= {"encoding": str(random.choice(["utf-8", "utf-8-sig", "utf-16"]))}
        file = folder / f"disguised_{seed}.csv"
        table.to_csv(file, **how)
        yield file, {}
        name = names[random.integers(len(names))]
        options = (
            {"drop_missing": True},
            {"label": name},
            {"scores": name},
            {"groups": "site", "drop_missing": True},
            {"predicted": name},
            {"kind": str(random.choice(["probs", "logits", "percent", "logprobs"]))},
            {"positive": "1"},
            {"first_class": 1},
            {"missing": "?", "drop_missing": True},
        )
        yield file, options[random.integers(len(options))]


def unpacked(text):
    return np.frombuffer(base64.b64decode(text))


def judged(page, file, options):
    """In a word, how the page's reading stands to the command's."""
    seen = given_to(page, READ, file, options)
    where, given = f"{file.name} {options}", by_the_command(file, options)
    if isinstance(given, str):
        assert "refused" in seen, f"{where}: read, but the command says {given}"
        if seen["unsure"]:
            return "left to the command, which asks"
        return "refused in the same words" if seen["refused"] == given else "refused"
    if "refused" in seen:
        assert seen["unsure"], f"{where}: {seen['refused']}"
        return "left to the command, which reads it"
    assert seen["told"] == given.note, where
    assert (seen["kind"], seen["names"]) == (given.kind, given.names), where
    assert unpacked(seen["labels"]).tolist() == list(given.labels), where
    assert unpacked(seen["rows"]).tolist() == np.flatnonzero(given.kept).tolist(), where
    np.testing.assert_allclose(unpacked(seen["scores"]), np.ravel(given.scores), 1e-14, 0, where)
    return "read alike"


def by_the_command(file, options):
    """Its reading, or its refusal but for the nearest name, which it alone says."""
    try:
        return files.read(file, **options)
    except ValueError as error:
        return re.sub(r"; did you mean '.*'\?", "", str(error))


def proposed(file):
    """The options that the command proposes, where the page has a list for each of them."""
    try:
        files.read(file)
    except ValueError as error:
        answer = getattr(error, "answer", None)  # of a question
        chosen = {} if answer is None else {k: v for k, v in vars(answer).items() if v}
        if chosen and set(chosen) <= set(ANSWERS):
            yield {k: ",".join(v) if isinstance(v, list) else v for k, v in chosen.items()}


@pytest.mark.parametrize("corpus", [collection, disguised], ids=lambda f: f.__name__)
def test_no_file_is_read_differently(scripts, tmp_path, corpus):
    found = {}
    for file, options in corpus(tmp_path):
        for asked in (options, *([] if options else proposed(file))):
            how = judged(scripts, file, asked)
            found[how] = found.get(how, 0) + 1
    assert found["read alike"] >= 5, found


# --- numbers ---


def differences(theirs, mine, where=""):
    """(place, difference) of all numbers; a difference of infinity where something is no number.

    theirs: of the command. What it draws for intervals the page leaves out, as null.
    """
    if isinstance(theirs, dict):
        for name, value in theirs.items():
            if name not in ("Platt", "Platt less temperature", "platt", "resamples"):
                yield from differences(value, mine.get(name, "missing"), f"{where}.{name}")
    elif isinstance(theirs, list) and isinstance(mine, list) and len(theirs) == len(mine):
        for place, pair in enumerate(zip(theirs, mine, strict=True)):
            yield from differences(*pair, f"{where}[{place}]")
    elif mine is None and re.search(rf"({'|'.join(LEFT_OUT)})\.interval$|smooth_ece\.\w+$", where):
        return
    elif isinstance(theirs, float | int) and isinstance(mine, float | int):
        yield where, abs(theirs - mine) / max(1, abs(theirs))
    else:
        yield f"{where}: {theirs} and {mine}", 0 if theirs == mine else math.inf


def numbers_of_both(page, file, options):
    mine = json.loads(given_to(page, ALL_NUMBERS, file, options))
    theirs = audited.numbers(auditing.audit_files(file, **options))
    for found in (mine, theirs):  # classes of one p-value stand in any order
        found["classes"].sort(key=lambda row: row["name"])
    for paid in ((theirs["binary"] or {}).get("costs"), theirs.get("deferral")):
        if paid:  # the command's own model is left out
            paid["models"] = [one for one in paid["models"] if one["model"] != "Platt"]
    return mine, theirs


def test_the_numbers_are_those_of_the_command(scripts, tmp_path):
    compared = 0
    made = {file.name: (file, options) for file, options in collection(tmp_path)}  # the last ones
    for name, (file, options) in made.items():
        if "refused" in given_to(scripts, READ, file, options):
            continue  # left to the command
        compared += 1
        for place, off in differences(*numbers_of_both(scripts, file, options)[::-1]):
            tied = "temperature" in place and "aurc" in place
            assert off <= (TIED.get(name, 1e-6) if tied else 1e-6), f"{name} {place}: {off}"
    assert compared >= 20


def test_classes_groups_and_copies_are_told_as_by_the_command(scripts, tmp_path):
    random = np.random.default_rng(3)
    z = random.normal(0, 2, (6000, 20))
    labels = (z + random.gumbel(size=z.shape)).argmax(1)
    site, predicted = random.choice(["north", "x < y & z"], 6000, p=[0.8, 0.2]), z.argmax(1)
    shown = set()
    for steep, those, copies in ((2.5, predicted < 9, 0), (1.6, site == "north", 300)):
        table = pd.DataFrame(np.where(those[:, None], steep * z, z))
        table = table.add_prefix("logit_").assign(label=labels, site=site)
        table = pd.concat([table, table.head(copies)])
        table.to_csv(tmp_path / "classes.csv", index=False)
        mine, theirs = numbers_of_both(scripts, tmp_path / "classes.csv", {"groups": "site"})
        assert [(place, off) for place, off in differences(theirs, mine) if off > 1e-6] == []
        words = [mine["temperature"]["advice"], *mine["warnings"]]
        shown |= {kind for kind in KINDS if any(kind in text for text in words)}
    assert shown == KINDS


KINDS = {  # of sentences about classes, groups and copies
    "9 of 20 predicted classes are off by more than luck explains",
    "points) and 1 more",
    "further off with it are groups x < y & z",
    "further off with it are predicted classes",
    "repeat an earlier row",
}


def binary(file, n=3000, steep=1.7, shift=1.2, seed=0):
    """Probabilities of an event, and whether it came."""
    random = np.random.default_rng(seed)
    odds = random.normal(size=n) * 1.2 - 1.5
    came = random.random(n) < 1 / (1 + np.exp(-odds))
    said = 1 / (1 + np.exp(-steep * odds - shift))
    pd.DataFrame({"y_true": came.astype(int), "y_prob": said}).to_csv(file, index=False)
    return file


@pytest.mark.parametrize(
    ("costs", "made", "known"),  # known: whether the cost and the difference have an interval
    [
        ((1, 20), {}, [True, True]),
        ((2.5, 1), {"steep": 3, "shift": 0}, [True, True]),
        ((1, 50), {"n": 60}, [False, False]),  # too few misses for an interval
        ((1e3, 1e3), {"n": 900, "steep": 0.3, "shift": 0.3}, [True, False]),  # none moves
    ],
)
def test_the_costs_of_decisions_are_those_of_the_command(scripts, tmp_path, costs, made, known):
    file = binary(tmp_path / "binary.csv", **made)
    mine, theirs = numbers_of_both(scripts, file, {"costs": costs})
    now, then = mine["binary"]["costs"]["models"]
    assert [
        now["cost"]["interval"] is not None,
        then["difference"]["interval"] is not None,
    ] == known
    assert max(off for _, off in differences(theirs, mine)) < 1e-6
    without, _ = numbers_of_both(scripts, file, {})
    assert "costs" not in without["binary"]


def test_groups_of_an_event_and_rows_left_out_are_told_as_by_the_command(scripts, tmp_path):
    table = pd.read_csv(binary(tmp_path / "binary.csv", n=900))
    table["site"] = np.resize(["north", "south", "east"], 900)
    table.loc[:120, "y_prob"] = np.nan
    table.to_csv(tmp_path / "binary.csv", index=False)
    options = {"groups": "site", "drop_missing": True}
    mine, theirs = numbers_of_both(scripts, tmp_path / "binary.csv", options)
    assert max(off for _, off in differences(theirs, mine)) < 1e-6
    assert mine["warnings"][0].startswith("121 of 900 rows are left out")
    assert {"event_gap", "event_low", "event_high"} <= set(mine["groups"][0])


def answers(file, right=0.8, n=1500):
    """Confidences in answers, and whether these are right, as JSON lines; too sure by half."""
    random = np.random.default_rng(2)
    odds = random.normal(size=n) * 1.5 + math.log(right / (1 - right))
    lines = zip(
        1 / (1 + np.exp(-1.8 * odds)), random.random(n) < 1 / (1 + np.exp(-odds)), strict=True
    )
    rows = ({"question": "?", "confidence": said, "correct": int(hit)} for said, hit in lines)
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


@pytest.mark.parametrize(("right", "costs"), [(0.8, (1, 20)), (0.8, (1, 1.5)), (0.2, (2, 5))])
def test_which_answers_to_look_up_is_told_as_by_the_command(scripts, tmp_path, right, costs):
    file = answers(tmp_path / "answers.jsonl", right)
    mine, theirs = numbers_of_both(scripts, file, {"costs": costs})
    assert max(off for _, off in differences(theirs, mine)) < 1e-6
    without, _ = numbers_of_both(scripts, file, {})
    assert "deferral" not in without


def test_the_random_numbers_are_those_of_numpy(scripts):
    drawn = """n => { const random = new calibkit.NumpyRandom(), order = [...random.order(n)];
      return [order, Array.from({length: 3000}, () => random.uniform())]; }"""
    for n in (4, 1000):
        random = np.random.default_rng(0)
        order, uniform = scripts.evaluate(drawn, n)
        assert order == random.permutation(np.arange(n)).tolist()
        assert uniform == random.random(3000).tolist()


# --- its page ---


def shown(page):
    """Waits for the whole result."""
    page.locator("#download:enabled").wait_for(timeout=30_000)


def choose(page, file):
    page.locator("#file").set_input_files(file)


def read_so(page, **form):
    """Fill in some options, and have the file read again."""
    page.evaluate("document.getElementById('options').open = true")
    for name, value in form.items():
        field = page.locator(f"[name={name}]")
        field.fill(value) if name in ("alarm", "miss") else field.select_option(value)
    page.get_by_role("button", name="Read it so").click()


def written(folder, name="predictions.csv", **more):
    columns = {f"p_{animal}": PROBS[:, k] for k, animal in enumerate(NAMES)}
    pd.DataFrame({"label": WORDS} | columns | more).to_csv(folder / name, index=False)
    return folder / name


def test_a_passer_by_sees_a_result_at_once(opened):
    page = opened(width=1366, height=768)
    page.locator("#example").click()
    shown(page)
    assert "made_up_example" in page.locator("#title").inner_text()
    lead = page.locator(".lead").inner_text()
    assert "over-confident by" in lead
    assert "Groups off by more than luck: outdoor" in lead
    for part in ("#title", ".lead", "#picture-before svg"):
        assert page.locator(part).bounding_box()["y"] < 768, part


def test_a_file_that_is_chosen_or_dropped_is_shown_as_the_command_shows_it(opened, tmp_path):
    page, file = opened(), written(tmp_path)
    choose(page, file)
    shown(page)
    report = auditing.audit_files(file)
    accuracy = report.measures["accuracy"].value
    assert f"right in {accuracy * 100:.1f}\u00a0%" in page.locator(".lead").inner_text()
    assert (
        page.locator("#told").inner_text()
        == "Labels from 'label', scores from p_cat, p_dog, p_eel."
    )
    assert f"p = {report.test.p_value:.3f}" in page.locator("#test").inner_text() or (
        "p ≤ 0.001" in page.locator("#test").inner_text()
    )
    said = page.locator("#live").text_content()
    assert said.startswith("Audit of predictions: 400 samples, right in")
    drop = """text => { const data = new DataTransfer();
      data.items.add(new File([text], "dropped.csv"));
      document.getElementById("drop").dispatchEvent(
        new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: data})); }"""
    page.evaluate(drop, file.read_text("utf-8"))
    page.locator("#title", has_text="dropped").wait_for()
    shown(page)
    assert f"right in {accuracy * 100:.1f}\u00a0%" in page.locator(".lead").inner_text()


def test_a_refusal_names_the_option_and_the_form_answers_it(opened, tmp_path):
    page = opened()
    file = written(tmp_path, y_true=WORDS[::-1])
    choose(page, file)
    page.locator("#question").wait_for()
    assert "Which column holds the labels?" in page.locator("#refusal").inner_text()
    assert page.evaluate("document.activeElement.id") == "question-title"
    heights = "box => [box.getBoundingClientRect().top, innerHeight]"
    for place in ("#question", "#hint", "[name=label]"):  # all of it in view
        top, screen = page.locator(place).evaluate(heights)
        assert 0 <= top < screen - 40
    assert page.locator("label.named").all_inner_texts()[0].startswith("Label column")
    assert "under “Label column” (--label), " in page.locator("#hint").inner_text()
    assert page.locator("#result").is_hidden()
    page.locator("[name=label]").select_option("label")
    line = f"python -m calibkit audit {file.name} --label=label"
    assert page.locator("#command").inner_text() == line
    page.get_by_role("button", name="Read it so").click()
    shown(page)
    assert "Labels from 'label'" in page.locator("#told").inner_text()
    assert page.locator("#question").is_hidden()
    assert line in page.locator("#rest").inner_text()


def test_what_it_does_not_read_is_left_to_the_command(opened, tmp_path):
    page = opened()
    (tmp_path / "my table.parquet").write_bytes(b"PAR1")
    choose(page, tmp_path / "my table.parquet")
    page.locator("#question", has_text="This file the command can read").wait_for()
    assert page.locator("#command").inner_text() == 'python -m calibkit audit "my table.parquet"'
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    choose(page, tmp_path / "empty.csv")
    page.locator("#question", has_text="cannot be audited as it is").wait_for()
    assert page.locator("#refusal").inner_text() == "The file is empty."


def test_what_is_not_clear_is_asked_with_three_lists(opened, tmp_path):
    page, file = opened(), tmp_path / "churn.csv"
    random = np.random.default_rng(6)
    p = random.random(300)
    left = np.where(random.random(300) < p, "left", "stayed")
    pd.DataFrame({"churned": left, "model": p, "age": 40}).to_csv(file, index=False)
    choose(page, file)
    page.locator("#question", has_text="What is what in this file?").wait_for()
    named = page.locator("label.named select")
    assert named.evaluate_all("all => all.map(list => list.name)") == [
        "label",
        "positive",
        "scores",
    ]
    page.locator("[name=label]").select_option("churned")
    offered = page.locator("[name=positive] option").all_inner_texts()
    assert offered == ["as found", "left", "stayed"]
    page.locator("[name=positive]").select_option("left")
    page.locator("[name=scores]").select_option("model")
    page.get_by_role("button", name="Read it so").click()
    shown(page)
    options = {"label": "churned", "scores": "model", "positive": "left"}
    line = page.locator("#command").text_content()
    assert all(f"--{name}={value}" in line for name, value in options.items())
    ece = auditing.audit_files(file, **options).binary.ece.value
    assert f"{100 * ece:.2f}" in page.locator("#event").inner_text()


def test_groups_and_a_binary_model_have_their_sections(opened, tmp_path):
    page = opened(width=390)
    random = np.random.default_rng(4)
    p = random.random(900)
    table = pd.DataFrame({"y_true": (random.random(900) < p**2).astype(int), "y_prob": p})
    table["site"] = random.choice(["<b>bold</b>", "Köln"], 900)
    table.to_csv(tmp_path / "binary.csv", index=False)
    choose(page, tmp_path / "binary.csv")
    shown(page)
    read_so(page, groups="site")
    page.locator("h2", has_text="Group by group").wait_for()
    shown(page)
    assert page.locator("h2", has_text="The event: 1").count() == 1
    assert page.locator("b").count() == 0  # what a file holds stays text
    assert page.locator("th", has_text="<b>bold</b>").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_costs_are_asked_for_and_shown_as_the_command_shows_them(opened, tmp_path):
    page, file = opened(width=390), binary(tmp_path / "binary.csv", steep=3, shift=0)
    choose(page, file)
    shown(page)
    assert page.locator("h3", has_text="What miscalibration costs").count() == 0
    page.locator("#event .note", has_text="What do a false alarm and a miss cost you?").wait_for()
    page.locator("#options summary").click()
    page.locator("[name=alarm]").fill("1")
    line = f"python -m calibkit audit {file.name}"
    assert page.locator("#command").inner_text() == line  # one cost alone is none
    page.get_by_role("button", name="Read it so").click()
    page.locator("#refusal", has_text="--costs must be two numbers").wait_for()
    named = page.locator("label.named input").evaluate_all("all => all.map(one => one.name)")
    assert named == ["alarm", "miss"]
    page.locator("[name=miss]").fill("20")
    assert page.locator("#command").inner_text() == f"{line} --costs 1 20"
    page.get_by_role("button", name="Read it so").click()
    page.locator("h3", has_text="What miscalibration costs").wait_for()
    shown(page)
    assert f"{line} --costs 1 20" in page.locator("#rest").inner_text()
    words = " ".join(page.locator("#event").inner_text().split())
    costs = auditing.audit_files(file, costs=(1, 20)).binary.costs
    less = costs.models["temperature"].difference
    assert less.clear
    low, high = sorted(100 * abs(end) for end in (less.low, less.high))
    assert "A false alarm costs 1, a miss 20. " in words
    assert f"cheapest to act from {100 * costs.threshold:.2f} % on" in words
    more = "less" if less.value < 0 else "more"
    size = 100 * abs(less.value)
    assert (
        f"After a temperature 100 rows cost {size:.1f} {more} ({low:.1f} to {high:.1f})." in words
    )
    assert page.locator("table", has_text="Cost of decisions").locator("tbody tr").count() == 4
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_numbers_are_saved_as_json(opened, tmp_path):
    page, file = opened(), written(tmp_path)
    choose(page, file)
    shown(page)
    with page.expect_download() as saved:
        page.locator("#download").click()
    assert saved.value.suggested_filename == "predictions.audit.json"
    saved.value.save_as(tmp_path / "saved.json")
    mine = json.loads((tmp_path / "saved.json").read_text("utf-8"))
    theirs = audited.numbers(auditing.audit_files(file))
    assert set(theirs) - set(mine) == {"resamples"}
    assert mine["calibkit"] == theirs["calibkit"]
    assert mine["test"] == pytest.approx(theirs["test"], abs=1e-6)


def test_everything_is_reached_by_tab_and_needs_no_mouse(opened):
    page = opened()
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "example":
            break
    page.keyboard.press("Enter")
    shown(page)
    assert page.evaluate("document.activeElement.id") == "title"
    page.evaluate("document.getElementById('options').open = true")
    reached = []
    page.evaluate("document.getElementById('file').focus()")
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.name || document.activeElement.id"))
    wanted = page.evaluate(
        "[...document.querySelectorAll('main :is(input, select, button)')]"
        ".filter(part => part.checkVisibility() && !part.disabled && part.id !== 'file')"
        ".map(part => part.name || part.id)"
    )
    assert set(wanted) <= set(reached)


def test_a_second_file_ends_the_first(opened, tmp_path):
    page = opened()
    large(tmp_path / "large.csv", 20_000)
    choose(page, tmp_path / "large.csv")
    choose(page, written(tmp_path))
    own = "Calibration audit of predictions"
    page.wait_for_function("own => document.querySelector('#title').innerText === own", arg=own)
    page.wait_for_timeout(500)  # the first file would have come by now
    assert page.locator("#title").inner_text() == own


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(opened, accessible, tmp_path, scheme):
    page = opened()
    page.emulate_media(color_scheme=scheme)
    accessible(page)
    page.locator("#example").click()
    shown(page)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    accessible(page)
    choose(page, written(tmp_path, y_true=WORDS[::-1]))
    page.locator("#question").wait_for()
    accessible(page)


def large(file, n, classes=10):
    random = np.random.default_rng(0)
    z = random.normal(0, 2, (n, classes))
    labels = (z * 0.7 + random.gumbel(size=z.shape)).argmax(1)
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    table = pd.DataFrame(p, columns=[f"p_{k}" for k in range(classes)]).assign(label=labels)
    table.to_csv(file, index=False)
    return file


def test_the_page_answers_while_a_hundred_thousand_rows_are_read(opened, tmp_path):
    page = opened()
    large(tmp_path / "large.csv", 100_000)
    page.evaluate(
        "() => { window.turns = 0; setInterval(() => { if (!document.querySelector('.lead')"
        "?.textContent.includes('100,000')) window.turns += 1; }, 20); }"
    )
    choose(page, tmp_path / "large.csv")
    expect(page.locator(".lead")).to_contain_text("100,000 samples", timeout=60_000)
    assert page.evaluate("turns") > 10
