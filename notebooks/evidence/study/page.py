"""The page of claims: two forest plots and a row a claim; and the table of every comparison.

    cd notebooks/evidence && python -m study.page

writes the part of notebooks/claims.md between its marks, notebooks/claims_compared.md, and the two
figures, from notebooks/results/verdicts.csv and the register.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from calibkit.course import checkout, claims
from calibkit.course.verdicts import interval
from calibkit.pictures import palette
from study import register
from study.judged import FRESH, NAME, ROUNDED, SEEN, WAITING, over_epochs

START, END = "<!-- the register -->", "<!-- end of the register -->"
BRIEF, END_BRIEF = "<!-- in brief -->", "<!-- end of the brief -->"
PAGE, COMPARED = "claims.md", "claims_compared.md"
FIGURES = {"as trained": "claims_as_trained.svg", "after T": "claims_after_T.svg"}
CURES = ("T1", "T2", "T3", "T4", "T4b", "F5", "F6", "X1", "X3", "X4", "X5", "P2")  # come first
LOOKS = {
    "digits": (palette.BLUE, "o"),
    "photographs": (palette.VERMILLION, "s"),
    "text": (palette.GREEN, "^"),
    "other": (palette.GREY, "D"),
}
BESIDE = {  # claims of cures beside cross-entropy
    "T2": "smoothing", "T3": "penalty", "T4": "MMCE", "T4b": "Brier", "F5": "focal loss, gamma 1",
    "X1": "mixup", "X5": "mixup",
}  # fmt: skip
FAMILIES = (  # a row of the figure against the epochs each
    ("smoothing", "penalty", "mixup", "mixup of inputs"),
    ("focal, gamma 1", "focal, gamma 2", "focal, gamma 3", "FLSD-53"),
    ("MMCE, plain", "MMCE, weighted", "Brier"),
)
NAMED = {"digits": "Digits", "text": "Notes", "parts": "Parts", "photographs": "Photographs"}
ALL_CHOSE = "largest decay: 3 of 3"  # on photographs: said once, in `tally`
WIDE = 30  # margins, beyond which a mark stands at the edge


def in_margins(row: pd.Series) -> tuple[float, float, float]:
    """Estimate and interval in margins, above 0 as claimed; of a claim on a level its distance."""
    ends = np.array([row.estimate, row.low, row.high]) - row.than
    ends = -ends[[0, 2, 1]] if row.expect == "below" else ends
    return tuple(ends / row.margin)


def forest(rows: pd.DataFrame, state: str, says: Mapping[str, str]) -> Figure:
    """A line a claim, its comparisons in this state as marks with intervals; the band: the margin.

    A mark at the edge that points outwards lies beyond the axis.

    says: by claim its words.
    """
    rows = rows[rows.state == state].replace({"data": {"parts": "digits"}})
    order = sorted(dict.fromkeys(rows.claim), key=lambda one: (one not in CURES, one))
    sizes = np.array([max(1.0, (rows.claim == one).sum() / 2) for one in order])
    middles = dict(zip(order, sizes.cumsum() - sizes / 2, strict=True))
    made, ax = plt.subplots(figsize=(9, 1.2 + 0.32 * sizes.sum()), layout="constrained")
    ax.axvspan(-1, 1, color="#E5E5E5", zorder=0)
    for claim, own in rows[rows.word != WAITING].groupby("claim"):
        heights = middles[claim] + 0.4 * (np.arange(len(own)) - (len(own) - 1) / 2)
        for place, (_, row) in zip(heights, own.iterrows(), strict=True):
            colour, marker = LOOKS[row.data]
            mean, low, high = np.clip(in_margins(row), -WIDE, WIDE)
            ax.plot([low, high], [place, place], color=colour)
            marker = {-WIDE: "<", WIDE: ">"}.get(mean, marker)  # it lies beyond the axis
            face = "white" if row.expect == "within" else colour
            ax.plot(mean, place, marker, color=colour, markersize=5, markerfacecolor=face)
            if pd.notna(row["size"]):
                ax.plot([row["size"] / row.margin] * 2, [place - 0.2, place + 0.2], color="black")
            if row.about != row.data:  # not the data alone tells the mark from others
                name = row.about.removeprefix(f"{row.data}, ")
                if high < 4:  # margins: room to the right
                    at, off, aligned = high, (4, 0), {"ha": "left", "va": "center"}
                elif low > -5:
                    at, off, aligned = low, (-4, 0), {"ha": "right", "va": "center"}
                else:
                    at, off, aligned = 0, (0, 2), {"ha": "center", "va": "bottom"}
                where = {"xytext": off, "textcoords": "offset points", "fontsize": 6}
                ax.annotate(name, (at, place), **where, **aligned)
    for claim, own in rows[rows.word == WAITING].groupby("claim"):
        label, place = f"{' and '.join(own.about)}: {WAITING}", middles[claim] - 0.25
        ax.text(-0.95 * WIDE, place, label, color=palette.GREY, fontsize=7, va="center")
    for name in dict.fromkeys(rows.data[rows.word != WAITING]):
        ax.plot([], [], LOOKS[name][1], color=LOOKS[name][0], label=name)
    cures = sum(size for one, size in zip(order, sizes, strict=True) if one in CURES)
    ax.axhline(cures, color=palette.GREY, lw=0.5)
    named = [textwrap.fill(f"{one} {says[one]}", 52) for one in order]
    ax.set_yticks(list(middles.values()), named, fontsize=7)
    ax.set_ylim(sizes.sum(), 0)
    ax.set_xscale("symlog", linthresh=2)
    ax.set_xlim(-WIDE * 1.1, WIDE * 1.1)
    ticks = (-30, -10, -2, -1, 0, 1, 2, 10, 30)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
    ax.minorticks_off()
    of = " (T2 to T4b, F5, F6, X: of the NLL)" * (state == "after T")
    ax.set_xlabel(f"{state}: margins against the claim, and for it{of}")
    made.legend(loc="outside upper right", ncols=5, fontsize=8)
    return made


def against_epochs(rows: pd.DataFrame) -> Figure:
    """Each way less cross-entropy over the epochs, mean and 98.75 % interval.

    A column a state, a row a family of ways, whose colours are its own.
    """
    states, margins = rows.state.unique(), register.read().margins
    look = {"layout": "constrained", "sharex": True, "sharey": "col"}
    made, grid = plt.subplots(len(FAMILIES), len(states), figsize=(9, 7), **look)
    for (axes, family), (column, state) in itertools.product(
        zip(grid, FAMILIES, strict=True), enumerate(states)
    ):
        ax, part = axes[column], effects(rows[rows.state == state])
        measure = part.measure.iloc[0]
        margin = margins[measure]
        ax.axhspan(-margin, margin, color="#E5E5E5", zorder=0)
        for place, way in enumerate(one for one in family if one in set(part.way)):
            own = part[part.way == way]
            x = own.epochs * 1.03 ** (place - 1.5)  # side by side
            bars, role = [own["mean"] - own.low, own.high - own["mean"]], palette.group(place, way)
            ax.errorbar(x, own["mean"], bars, ms=4, lw=1, **role.line())
        ax.set_xscale("log")
        ax.set_yscale("symlog", linthresh=3 * margin)  # one way stands far off at 15 epochs
        ticks = sorted(part.epochs.unique())
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.minorticks_off()
        ax.set_ylabel(f"{measure} {state}:\nminus cross-entropy's", fontsize=8)
        if column and ax.containers:
            ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False)
    for ax in grid[-1]:
        ax.set_xlabel("epochs")
    return made


def number(value: float) -> str:
    return f"{value:+.3f}".replace("+0.", "+.").replace("-0.", "-.")


def measured(row: pd.Series) -> str:
    if row.word == WAITING:
        return claims.NONE
    return f"{number(row.estimate)} [{number(row.low)}, {number(row.high)}]"


def words(rows: pd.DataFrame) -> str:
    """The comparisons of a claim in one state: "digits: HOLDS; photographs: OPEN".

    With the measure where it is not the ECE, and beside the word its `marks`.
    """
    alike = rows.measure.nunique() == 1
    told = []
    for row in rows.itertuples():
        name = row.about if alike or row.measure in row.about else f"{row.about}, {row.measure}"
        told.append(f"{name}: {word(row)}{marks(row)}")
    plain = not alike or rows.measure.iloc[0] in ("ECE", *rows.about.str.cat(sep=" ").split())
    return ("" if plain else f"*{rows.measure.iloc[0]}* ") + "; ".join(told) or claims.NONE


def word(row) -> str:
    """The word, and after an OPEN one whether the interval leaves no such effect as is claimed."""
    return f"{row.word}, not as claimed" if row.excluded else row.word


def marks(row) -> str:
    """What limits a word: an end of strengths or decays that two in five seeds chose; other decays.

    The strength is named where it was chosen on digits or notes by four in five. Other decays:
    those at which the word is another one; what stands `beside`, where its word is another one,
    with its mean; rounding; and that it was stated after a look.
    """
    told = ["rounding may decide"] * (row.stored == ROUNDED) + ["post hoc"] * bool(row.late)
    for end in filter(None, row.ends.split("; ")):
        name, _, counted = end.rpartition(": ")
        many, seeds = map(int, counted.split(" of "))
        strength, _, which = name.rpartition(", the ")
        plain = row.data == "photographs" or ", gamma" in strength or many < 0.8 * seeds
        if many >= 0.4 * seeds and end != ALL_CHOSE:
            told.append(which if plain or not strength else f"{strength}, {which}")
    others: dict[tuple[str, str], dict[str, str]] = {}
    for decay, other in at_decays(row).items():
        others.setdefault(("", other), {})[decay] = ""
    for name, decay, other, numbers in beside(row):
        others.setdefault((f"{name} ", other), {})[decay] = numbers.split()[0]
    for (name, other), at in others.items():
        if other != word(row):
            where = f"at {', '.join(at)}" if any(at) else ""
            mean = f" {number(float(*at.values()))}" if name and len(at) == 1 else ""
            told.append(f"{f'{name}{where}'.strip()}: {other}{mean}")
    return f" ({'; '.join(told)})" if told else ""


def at_decays(row) -> dict[str, str]:
    """By weight decay, as "5e-4", the word with both sides at it; where that is stored."""
    told = (one.split(": ") for one in filter(None, row.decays.split("; ")))
    return {plain(decay): other for decay, other in told}


def beside(row) -> list[tuple[str, str, str, str]]:
    """Name, weight decay or "", word, and mean with interval of what stands beside a row."""
    told = (one.split(" | ") for one in filter(None, row.beside.split("; ")))
    return [(name, decay and plain(decay), *rest) for name, decay, *rest in told]


def plain(decay: str) -> str:
    """A weight decay as the page has it.

    >>> [plain(one) for one in ("0", "0.0005", "0.01", "0.3", "3")]
    ['0', '5e-4', '1e-2', '.3', '3']
    """
    if 0 < float(decay) < 0.1:
        return f"{float(decay):.0e}".replace("e-0", "e-")
    return f"{float(decay):g}".lstrip("0") or "0"


def brief(rows: pd.DataFrame, shown: pd.DataFrame, listed: Sequence[register.Claim]) -> str:
    """Markdown: which cures help after a temperature, what longer training changes, what is left.

    shown: of `over_epochs`, of digits.
    """
    held = register.read().data
    cured = rows[(rows.state == "after T") & (rows.measure == "NLL")]

    def line(name: str, own: pd.DataFrame) -> str:
        cells = []
        for said in ("HOLDS", "WITHIN", "OPEN", "REVERSED"):
            found = own[own.word == said]
            told = (
                f"{BESIDE[one.claim]} {number(one.estimate)}"
                + f" [{number(one.low)}, {number(one.high)}]" * (said == "OPEN")
                for one in found.itertuples()
            )
            cells.append("; ".join(told) or "none")
        return f"| {name} | {' | '.join(cells)} |"

    groups = cured[cured.claim.isin(BESIDE)].groupby("about", sort=False)
    lines = [line(f"{about}, {own.seeds.iloc[0]} seeds{_fixed(own)}", own) for about, own in groups]
    about = "\n".join(f"*{NAMED[name]}*: {one['about']}." for name, one in held.items())
    waiting = ", ".join(dict.fromkeys(rows[rows.word == WAITING].claim))
    waiting = f" Not run yet in part:\n{waiting}." if waiting else ""
    prepared = [f"{claim.id} ({claim.says})" for claim in listed if claim.tested == "prepared"]
    narrow = sum(claim.tested == "narrower" for claim in listed)
    return f"""**Which cures help once every network has a temperature?** NLL after T minus
cross-entropy's (accuracy counts, too), each side at its setting of least NLL on other data.

| data | helps | none that matters | undecided | harms |
|---|---|---|---|---|
{chr(10).join(lines)}

**What does longer training change?** {told_of_epochs(shown)}

**What was not tested?** Never run: {"; ".join(prepared)}.{waiting} {narrow} of {len(listed)} claims
were tested *narrower* than their source. Photographs had 15 epochs, digits and notes mostly 60,
the papers 160 to 500. *After T, the NLL* is our question; sources ask for calibration errors.

{about}

Each way on digits less cross-entropy, at the setting of least NLL: **bold**, surely beyond the
margin; with a ?, undecided; else within it ([figure](images/claims_epochs_digits.svg)).

{over_time(shown)}"""


def _fixed(rows: pd.DataFrame) -> str:
    """What a row of the table says where no strength and no decay was chosen."""
    return "" if rows.rule.isin((FRESH, SEEN)).any() else ", setting fixed"


def told_of_epochs(shown: pd.DataFrame) -> str:
    """In sentences: cross-entropy's own measures, and how many ways lie beyond it, by epochs."""
    margins, others = register.read().margins, shown[shown.way != "cross-entropy"]
    few, many = shown.epochs.min(), shown.epochs.max()
    own, better, worse = [], [], []
    for (state, measure), part in others.groupby(["state", "measure"], sort=False):
        rival, found = part.groupby("epochs").rival.mean(), effects(part)
        start, end = (f"{rival[one]:.3f}".lstrip("0") for one in (few, many))
        own.append(f"{measure} {state} from {start} to {end}")
        for said, beyond in ((better, -found.high), (worse, found.low)):
            surely = found.epochs[beyond > margins[measure]]
            if surely.isin([few, many]).any():
                said.append(f"{measure} {(surely == few).sum()}, then {(surely == many).sum()}")
    return (
        f"From {few} to {many} epochs cross-entropy goes in its {', in '.join(own)}. Of "
        f"{others.way.nunique()} other ways are surely better by more than the margin: "
        f"{'; '.join(better) or 'none'}; worse by it: {'; '.join(worse) or 'none'}."
    )


def effects(shown: pd.DataFrame) -> pd.DataFrame:
    """A row a way, state, measure and epochs: the mean difference and its 98.75 % interval."""
    keys = ["way", "state", "measure", "epochs"]
    groups = shown.groupby(keys, sort=False).difference
    rows = [[*key, *interval(x, level=0.9875)] for key, x in groups]
    return pd.DataFrame(rows, columns=[*keys, "mean", "low", "high"])


def over_time(shown: pd.DataFrame) -> str:
    """Markdown: a way's mean difference by state, at the fewest and the most epochs.

    Bold where its interval is beyond the margin, plain where within, with a ? where undecided.
    """
    margins = register.read().margins
    shown = shown[shown.epochs.isin([shown.epochs.min(), shown.epochs.max()])]
    rival = shown.groupby(["measure", "state", "epochs"], sort=False).rival.mean()
    cells = {"cross-entropy itself": [f"{one:.3f}" for one in rival]}
    for one in effects(shown[shown.way != "cross-entropy"]).itertuples():
        margin = margins[one.measure]
        within = max(one.high, -one.low) < margin
        told = number(one.mean) + "?" * (not within)
        beyond = max(one.low, -one.high) > margin
        cells.setdefault(one.way, []).append(f"**{number(one.mean)}**" if beyond else told)
    heads = [f"{measure} {state}, {epochs}" for measure, state, epochs in rival.index]
    lines = [f"| {' | '.join(['epochs', *heads])} |", "|---" * (len(heads) + 1) + "|"]
    return "\n".join(lines + [f"| {' | '.join([way, *row])} |" for way, row in cells.items()])


def tally(rows: pd.DataFrame) -> str:
    """Markdown: how often each word was given, by state."""
    heads = ("HOLDS", "WITHIN", "OPEN", "OPEN, not as claimed", "REVERSED")
    lines = [f"| comparisons | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for state in register.STATES:
        many = Counter(word(row) for row in rows[rows.state == state].itertuples())
        counted = " | ".join(str(many[head]) for head in heads)
        lines.append(f"| {state or 'without T'} | {counted} |")
    stored = rows[rows.decays.str.contains(";")]
    moved = pd.Series({one.Index: len(set(at_decays(one).values())) > 1
                       for one in stored.itertuples()})  # fmt: skip
    there = stored.data == "photographs"
    end = (rows.rule == SEEN) & rows.ends.str.contains(ALL_CHOSE)
    sets = [(rows.rule == rule).sum() for rule in (FRESH, SEEN)]
    lines += [
        "",
        f"{sets[0]} of the {len(rows)} compare ways of training with fresh seeds, {sets[1]} on "
        f"photographs ({end.sum()} at the largest decay), {len(rows) - sum(sets)} are statements "
        f"of the evidence. The word changes with the weight decay in {moved[there].sum()} of "
        f"{there.sum()} on photographs, {moved[~there].sum()} of {(~there).sum()} on digits and "
        f"notes (NLL after T, on the seeds that choose).",
    ]
    return "\n".join(lines)


def overview(rows: pd.DataFrame, listed: Sequence[register.Claim]) -> str:
    """Markdown: a row a claim, and a line for those of which nothing is compared."""
    head = ["claim", "in plain words", "tested; lacks", "as trained", "after T", "without T"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for claim in listed:
        own = rows[rows.claim == claim.id]
        if own.empty:
            continue
        cells = [words(own[own.state == state]) for state in ("as trained", "after T", "")]
        left = _short(claim.left)
        tested = f"{claim.tested}; {left}" if left else claim.tested
        lines.append(f"| {' | '.join([claim.id, claim.says, tested, *cells])} |")
    kinds: dict[str, list[str]] = {}
    for claim in listed:
        if claim.id not in set(rows.claim):
            kinds.setdefault(claim.tested, []).append(claim.id)
    told = "; ".join(f"{kind} {', '.join(ids)}" for kind, ids in kinds.items())
    return "\n".join([*lines, "", f"Without a comparison: {told}."])


def _short(left: str) -> str:
    return re.sub(r"\d+ of \d+ epochs( on photographs)?", "schedule", left)


def compared(rows: pd.DataFrame) -> str:
    """Markdown: a row a comparison, with what was said before and the rule that changed it."""
    head = ["claim", "comparison", "word", "mean [98.75 %]", "seeds", "at decay", "at an end"]
    head += ["would decide", "numbers of", "older word", "older mean", "rule that changed it"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for _, row in rows.iterrows():
        older = "" if pd.isna(row["old mean"]) else number(row["old mean"])
        at = [f"{decay}: {other}" for decay, other in at_decays(row).items()]
        at += [f"{name}{f', {decay}' * bool(decay)}: {other} {numbers}"
               for name, decay, other, numbers in beside(row)]  # fmt: skip
        cells = [row.claim, row.comparison, word(row), measured(row), row.seeds]
        cells += ["; ".join(at), row.ends, row.more, f"{row.stored}{', post hoc' * row.late}"]
        cells += [row["old word"], older, row.rule]
        shown = [claims.NONE if pd.isna(one) or one == "" else str(one) for one in cells]
        lines.append(f"| {' | '.join(shown)} |".replace(".0 |", " |"))
    return "\n".join(lines)


def stored() -> pd.DataFrame:
    whole = dict.fromkeys(("seeds", "more"), "Int64")
    rows = pd.read_csv(checkout.results() / NAME, dtype=whole)
    return rows.fillna({"state": "", "rule": "", "ends": "", "decays": "", "beside": ""})


def pages(rows: pd.DataFrame, listed: Sequence[register.Claim], page: str) -> dict[str, str]:
    """The texts of the two pages; page: what claims.md holds now."""
    before, _, rest = page.partition(START)
    after = rest.partition(END)[2]
    short = brief(rows, over_epochs("digits", register.read()), listed)
    head, rest = before.partition(BRIEF)[0], before.partition(END_BRIEF)[2]
    before = f"{head}{BRIEF}\n\n{short}\n\n{END_BRIEF}{rest}"
    told = f"{START}\n\n{tally(rows)}\n\n{overview(rows, listed)}\n\n{END}"
    head = (
        "# Every comparison of the register\n\n[Claims](claims.md) has them in one line a claim. "
        "*At an end*: in so many seeds the first or the last strength or weight decay that was "
        "tried had the least NLL, so that a better one may lie beyond. *Would decide*: so many "
        "seeds, were mean and spread as they are. *Numbers of*: each seed, or a printed line of "
        "three decimals where no values of the seeds are stored. *At decay*: the word with both "
        "sides at that weight decay, where runs at it are stored. *Older*: what the word "
        "and the mean were before the register, and the rule that changed the word.\n\n"
    )
    return {PAGE: before + told + after, COMPARED: f"{head}{compared(rows)}\n"}


def write() -> None:
    home, rows, listed = checkout.root() / "notebooks", stored(), register.read().claims
    for name, text in pages(rows, listed, (home / PAGE).read_text("utf-8")).items():
        (home / name).write_text(text, encoding="utf-8")
    plt.rcParams["svg.hashsalt"] = "claims"
    says = {claim.id: claim.says for claim in listed}
    for state, name in FIGURES.items():
        made = forest(rows, state, says)
        _keep(made, home / "images" / name)
    shown = over_epochs("digits", register.read())
    _keep(against_epochs(shown), home / "images" / "claims_epochs_digits.svg")


def _keep(made: Figure, path: Path) -> None:
    made.savefig(path, metadata={"Date": None})
    plt.close(made)


if __name__ == "__main__":
    write()
