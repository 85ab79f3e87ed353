"""What an audit advises about a temperature, in words and as a line to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from calibkit.auditing.cross_fitted import Cooling
from calibkit.auditing.measures import Estimate
from calibkit.auditing.scores import Scores

MOST_RISE = 0.01  # of the ECE, clear or not, with which a temperature is still advised
Verdict = Literal["use", "disagreement", "harm", "no need", "none fits"]


@dataclass(frozen=True)
class Advice:
    """verdict: one of five; words: why, in sentences; line: what to run, "" where none is advised.

    means: what the temperature says of the model.
    """

    verdict: Verdict
    words: str
    means: str
    line: str


class Rise(NamedTuple):
    """What the temperature changes a calibration error by: the value, and the lower end of it."""

    name: str
    value: float
    low: float

    def __str__(self) -> str:
        return f"{self.name} (by {self.value * 100:.1f} points)"


def advise(
    cooling: Cooling,
    gain: dict[str, Estimate],
    rises: list[Rise],
    gap: Estimate,
    scores: Scores,
    form: Form,
) -> Advice:
    """NLL, Brier score and ECE before and after the temperature, weighed together.

    gain: cooled less as it is, paired. rises: of the ECE, and of a binary model that of the event.
    form: how the scores came.
    """
    if cooling.misfit:
        words = f"No temperature fits: {cooling.misfit}. Nothing is advised"
        return Advice("none fits", words, "", "")
    verdict, words = _weighed(cooling, gain, rises)
    run = line(cooling.value, scores, form) if verdict == "use" else ""
    return Advice(verdict, words, _means(cooling.value, gap), run)


def _weighed(cooling: Cooling, gain: dict[str, Estimate], rises: list[Rise]) -> tuple[Verdict, str]:
    """The verdict and why, in a sentence or two without the last stop."""
    if cooling.low <= 1 <= cooling.high:
        within = f"{cooling.low:.3f} to {cooling.high:.3f}"
        return "no need", f"Its interval, {within}, holds 1: it is not needed"
    losses = {"the likelihood": gain["nll"], "the Brier score": gain["brier"]}
    better = [name for name, loss in losses.items() if loss.clear and loss.value < 0]
    worse = [name for name, loss in losses.items() if loss.clear and loss.value > 0]
    worse += [str(rise) for rise in rises if rise.low > 0]
    gains, loses = (
        f"{_list(better)} {_verb(better, 'gain')}",
        f"{_list(worse)} {_verb(worse, 'lose')}",
    )
    most = max(rises, key=lambda rise: rise.value)
    if better and worse:
        return "disagreement", (
            f"The measures disagree: {gains} clearly, and {loses} clearly. One temperature is the "
            f"wrong correction here, and none is advised; look at the diagram, and try a map with "
            f"more freedom, such as isotonic regression"
        )
    if worse:
        words = f"{_begin(loses)} clearly: do not use it, and look at where the data come from"
        return "harm", words
    if not better:
        return (
            "no need",
            "Neither the likelihood nor the Brier score moves clearly: it is not needed",
        )
    grows = f"{most.name} rises by {most.value * 100:.1f} points"
    if most.value >= MOST_RISE:
        words = f"{_begin(gains)} clearly, but {grows}, which may be luck or not: none is advised"
        return "disagreement", words
    aside = f", though {grows}" if most.value >= 5e-4 else ""
    return "use", f"{_begin(gains)} clearly{aside}: use it"


def _list(names: list[str]) -> str:
    """Names in a row."""
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _verb(names: list[str], verb: str) -> str:
    return verb if len(names) > 1 else f"{verb}s"


def _begin(words: str) -> str:
    return words[:1].upper() + words[1:]


def _means(value: float, gap: Estimate) -> str:
    """What a temperature says of the model: too sure only where the gap says so, too."""
    side, sure = ("large", "too sure") if value > 1 else ("small", "not sure enough")
    start = f"{'above' if value > 1 else 'below'} 1 the logits were too {side}"
    if gap.clear and (gap.value > 0) == (value > 1):
        return f"{start}, the model {sure}"
    return (
        f"{start} for the likelihood, while the signed gap does not say that the model is {sure} "
        f"on average"
    )


class Form(NamedTuple):
    """How scores came: whether as one column, of class 1, and "percent" or "logprobs", or ""."""

    of_one: bool = False
    unit: str = ""


def line(temperature: float, scores: Scores, form: Form) -> str:
    """A line of Python that cools scores of the form that the audit was given."""
    t, least = f"{temperature:.6g}", f"{scores.floor:.6g}"
    if scores.kind == "logits":
        if form.of_one:
            return f"prob = torch.sigmoid(logit / {t})"
        name = "logprobs" if form.unit == "logprobs" else "logits"
        return f"probs = torch.softmax({name} / {t}, dim=1)"
    name = "prob" if form.of_one else "probs"
    given = {"percent": f"{name} / 100", "logprobs": "logprob.exp()"}.get(form.unit, name)
    if form.of_one:
        name = "confidence" if scores.event else "prob"
        given = given.replace("prob", name, 1) if given.startswith("prob") else given
        apart = f", eps={least}" if scores.floor else ""
        return f"{name} = torch.sigmoid(torch.logit({given}{apart}) / {t})"
    if scores.floor:
        given = f"({given}).clamp(min={least})" if " " in given else f"{given}.clamp(min={least})"
    return f"probs = torch.softmax(torch.log({given}) / {t}, dim=1)"
