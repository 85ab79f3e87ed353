"""What texts say beside what is there: sizes of networks, and the numbers of the answers."""

import re
from itertools import chain
from pathlib import Path

import jupytext
import nbformat
import pytest
from torch import nn

from calibkit.course import checkout
from calibkit.course.classroom import slicing
from calibkit.course.execution import PNG
from calibkit.course.experiments import focal_gammas, soft_targets
from calibkit.course.scale import budget

SOURCE = checkout.root() / "notebooks" / "source"
EXPERIMENTS = Path(focal_gammas.__file__).parent
FILES = sorted({*SOURCE.rglob("*.py"), *EXPERIMENTS.glob("*.py")})
NETWORK = re.compile(r"(?:(two) )?(?:hidden )?layers of (\d+) units")
# By file the networks that its texts name, as an expression in the names of its code.
NETWORKS = {
    "focal_gammas.py": [focal_gammas.trial(budget("smoke"), 0.0, 0.0, 0).model],
    "soft_targets.py": [soft_targets.trial(budget("smoke"), "smoothing", 0.0, 0.0, 0).model],
    "00_start_here.py": ["network()"],
    "03_overconfidence.py": ["recipe(**plain, seed=0).model()"],
    "evidence/03_overconfidence.py": ["recipe(**plain, seed=0).model()", "watched(0).model()"],
    "evidence/06_label_noise.py": ["recipe(0.0, 0).model()"],
    "evidence/09_soft_targets.py": ["smoothed(0.1, 0).model()"],
    "evidence/10_focal_theory.py": ["recipe(0.0, 0).model()"],
    "evidence/11_focal_practice.py": ["network()"],
    "evidence/12_mixup.py": [
        "recipe('mixup', 0.1, 0.0, 0).model()",
        "copied('clusters', 'mixup', 0.1, 0.0, 0).model()",
    ],
    "evidence/13_shift_and_ood.py": ["recipe(0).model()"],
    "evidence/14_sample_prioritization.py": ["choices.NETWORK()"],
}


def name(file):
    beside = file.parent == SOURCE / "evidence"
    return f"evidence/{file.name}" if beside else file.name


def named(text):
    """(layers, units) of each network that a text names; None layers where it does not say."""
    flat = re.sub(r"\s*\n#?\s*", " ", text)
    return [(2 if two else None, int(units)) for two, units in NETWORK.findall(flat)]


def hidden(made, file):
    """Widths of the hidden layers of a network, made or yet to make from the code of a lesson."""
    if callable(made):
        network = made()
    else:
        cells = [cell.source for cell in jupytext.read(file).cells if cell.cell_type == "code"]
        cells = [cell.replace('SCALE = "laptop"', 'SCALE = "smoke"') for cell in cells]
        space = {"__name__": "lesson"}
        code = slicing.needed([*cells, f"network_of_the_text = {made}"], "network_of_the_text")
        exec(compile(code, file.name, "exec"), space)
        network = space["network_of_the_text"]
    return [one.out_features for one in network.modules() if isinstance(one, nn.Linear)][:-1]


def test_every_network_that_is_named_is_looked_at():
    texts = {name(file): named(file.read_text(encoding="utf-8")) for file in FILES}
    assert {file for file, networks in texts.items() if networks} == set(NETWORKS)


@pytest.mark.parametrize("file", [file for file in FILES if name(file) in NETWORKS], ids=name)
def test_a_network_has_the_size_that_the_text_names(file):
    there = [hidden(made, file) for made in NETWORKS[name(file)]]
    said = dict.fromkeys(named(file.read_text(encoding="utf-8")))
    assert [units for _, units in said] == [widths[0] for widths in there]
    for (layers, units), widths in zip(said, there, strict=True):
        assert widths == [units] * (layers or len(widths))


# --- the answers ----------------------------------------------------------------------------------

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<![\w\d])\.\d+")
LESSONS = sorted((checkout.root() / "notebooks").glob("[0-9]*.ipynb"))


def printed(notebook):
    """The numbers that cells print, or that the text of a picture tells."""
    outputs = chain.from_iterable(cell.get("outputs", ()) for cell in notebook.cells)
    for output in outputs:
        told = output.get("text") or output.get("data", {}).get("text/plain", "")
        picture = output.get("metadata", {}).get(PNG, {}).get("alt", "")
        yield from (float(n.replace(",", "")) for n in NUMBER.findall(f"{told} {picture}"))


def bold_answers(notebook):
    """The bold text under the heading "The answer"."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    sections = re.split(r"(?m)^## ", prose)
    return [
        bold
        for section in sections
        if re.match(r".*[Aa]nswer\n", section)
        for bold in re.findall(r"\*\*(.+?)\*\*", section, re.DOTALL)
    ]


def missing(notebook):
    """Numbers of the answer that no cell prints, as they are or as a share of 1."""
    there = [each for number in printed(notebook) for each in (number, 100 * number)]
    return [
        number
        for bold in bold_answers(notebook)
        for number in NUMBER.findall(bold)
        if not any(_alike(number.replace(",", ""), one) for one in there)
    ]


def _alike(number, one):
    decimals = len(number.partition(".")[2])
    return f"{one:.{decimals}f}" == f"{float(number):.{decimals}f}"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)
def test_the_numbers_of_an_answer_are_printed(lesson):
    notebook = nbformat.read(lesson, 4)
    assert missing(notebook) == []
