"""Command line: `calibkit` or `python -m calibkit`, then lab, doctor, audit, course, pages, ..."""

from __future__ import annotations

import argparse
import difflib
import errno
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from calibkit import __version__

INTERRUPTED = 130  # what a shell says of a command that Ctrl-C ended
OWN = ("doctor", "audit")  # all others are of the course: `calibkit.course.commands`
GROUPS = {  # what each command does
    "learn": {
        "lab": "the lessons in JupyterLab; more options go to JupyterLab",
        "doctor": "what is installed, which device, what is missing",
        "play": "write the playground: a network trains in the browser",
        "own-diagram": "write a page of 30 questions: your own reliability diagram",
    },
    "your model": {
        "audit": "one page about the calibration of your own model",
        "audit-page": "write the page that does so in a browser, where nothing is installed",
    },
    "teach": {
        "kit": "90 minutes ready to give: slides, notes, quiz, notebooks",
        "student": "notebooks to hand out: no outputs, no solutions",
        "teacher": "notebooks with notes, open solutions, known mistakes",
        "key": "exercises with executed solutions, and all answers",
        "grade": "run and grade the notebooks of a class",
        "quiz": "recall questions as Markdown and for Moodle (GIFT)",
        "handouts": "a page to print for each lesson",
        "rubric": "what to read exercises in words for: to read, and to fill",
        "explorer": "write a slider as a folder, for pages of your own",
    },
    "build": {
        "course": "execute every notebook headless into build/",
        "notebooks": "execute notebooks/source into the notebooks",
        "pages": "write the executed notebooks as HTML into build/pages",
        "site": "write the whole course as a web site into build/site",
        "open": "write the pages of notebooks/open, which a double click opens",
        "claims": "all verdicts beside the sources' own figures",
        "reproduce": "a lesson's experiment on real data",
        "arbiter": "which recalibration comes closest to an exact posterior",
    },
}
HELP = {name: words for group in GROUPS.values() for name, words in group.items()}
ELSEWHERE = (
    "{} needs the folder of the course, which the installed package does not hold: "
    "unpack or clone it, and there run  make lab"
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when all went well."""
    print_in_any_encoding()
    words = sys.argv[1:] if arguments is None else arguments
    asked = words[0] if words else "--help"
    try:
        parser = _parser(with_course=asked in HELP and asked not in OWN)
    except ModuleNotFoundError as error:
        if error.name != "calibkit.course.commands":
            raise
        print(f"calibkit: {ELSEWHERE.format(asked)}", file=sys.stderr)
        return 2
    if asked not in HELP and not asked.startswith("-"):
        near = difflib.get_close_matches(asked, HELP, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        parser.error(f"there is no command {asked!r}; {meant}{parser.prog} --help lists them")
    options, more = parser.parse_known_args(words or [asked])
    if more and not options.takes_more:
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    options.more = more
    try:
        _demand_place(options)
        code = options.command(options)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads, such as `head`, has enough
        _close_output()
        return 0
    except OSError as error:
        print(f"calibkit: {_failure(error, options)}", file=sys.stderr)
        return 2
    except (ValueError, TypeError) as error:
        print(f"calibkit: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        from calibkit import doctor

        print(f"calibkit: {doctor.advice(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        print(f"calibkit: {error or 'stopped by Ctrl-C'}", file=sys.stderr)
        return INTERRUPTED
    return code


def print_in_any_encoding() -> None:
    """What the output's encoding lacks is printed as its number, such as \\u2713."""
    if getattr(sys.stdout, "errors", None) == "strict" and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _close_output() -> None:
    """So that Python does not try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _place(options) -> Path | None:
    """Where a command writes, as far as it was said."""
    said = getattr(options, "target", None) or getattr(options, "out", None)
    return None if said is None else Path(said)


def _demand_place(options) -> None:
    """Raise OSError before the work where nothing can be written."""
    place = _place(options)
    if place is None or place.exists():
        return
    there = next(folder for folder in place.absolute().parents if folder.exists())
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(place)) from None


def _failure(error: OSError, options) -> str:
    """What cannot be written or read, why, and what to do, in one sentence."""
    if error.strerror is None:  # it speaks for itself
        return str(error)
    place, name = _place(options), error.filename
    if name is None:  # where a disk is full
        name = "what is printed" if _output_fails() else place or "a file"
    file = Path(name).absolute()
    writes = error.filename is None or (place and place.absolute() in (file, *file.parents))
    remedy = "look at its name, and whether you may read and write there"
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)):
        remedy = "make room on that disk, or choose another"
    elif writes:
        remedy = "name another place; the command with --help says how"
    return f"cannot {'write' if writes else 'use'} {name}: {error.strerror}; {remedy}"


def _output_fails() -> bool:
    try:
        print(flush=True)
    except OSError:
        _close_output()
        return True
    return False


# Each command imports what it needs: `doctor` must speak where torch is missing.


def _doctor(_) -> int:
    from calibkit import doctor

    text, healthy = doctor.report()
    print(text)
    return 0 if healthy else 1


def _audit(options) -> int:
    _demand_files(options)
    from calibkit import auditing

    _demand_writable(Path(options.target))
    if options.json is not None:
        _demand_writable(Path(options.json), "--json")
    limits = dict(map(_limit, options.fail_above))
    auditing.demand_measures(limits)
    asked = {name: value for name, value in vars(options).items() if name not in NOT_OF_THE_AUDIT}
    chosen = {name: value for name, value in asked.items() if value not in (None, False)}
    try:
        audit = auditing.audit_files(options.file, **chosen)
    except auditing.Question as question:
        question.path = options.file
        raise ValueError(question.text(_besides(options), _program())) from None
    page = audit.write(options.target).resolve()
    print(audit)
    print(f"the page: {page}")
    if options.json is not None:
        print(f"the numbers: {audit.write_json(options.json).resolve()}")
    failed = audit.over(limits)
    for text in failed:
        print(f"calibkit: {text}", file=sys.stderr)
    return 1 if failed else 0


NOT_OF_THE_AUDIT = {"file", "target", "json", "fail_above", "command", "takes_more", "more"}


def _besides(options) -> list[str]:
    """What else was typed, for the command that answers a question."""
    words: list[str] = []
    for name in ("calibration", "other", "name", "bins", "weights", "target", "json"):
        value = getattr(options, name)
        if value is not None and (name, value) != ("target", "audit.html"):
            words += [f"--{name}", str(value)]
    words += ["--cluster", options.clusters] if options.clusters is not None else []
    words += ["--costs", *(f"{cost:g}" for cost in options.costs)] if options.costs else []
    return words + [word for limit in options.fail_above for word in ("--fail-above", limit)]


def _limit(words: str) -> tuple[str, float]:
    """A measure and its limit, from words such as ece=.05."""
    name, _, number = words.partition("=")
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not 0 <= limit < math.inf:
        raise ValueError(f"--fail-above must be MEASURE=NUMBER, such as ece=.05, got {words!r}")
    return name.strip(), limit


def _demand_files(options) -> None:
    """Refuse a file that is not there before torch is loaded, which takes seconds."""
    for name in ("file", "labels", "calibration", "other"):
        file = getattr(options, name)
        if file is not None and not Path(file).exists():
            folder = Path(file).absolute().parent
            beside = [path.name for path in folder.iterdir()] if folder.is_dir() else []
            near = difflib.get_close_matches(Path(file).name, beside, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else "; look at its name and its folder"
            raise FileNotFoundError(f"no file {file}{meant}")


def _demand_writable(target: Path, option: str = "--target") -> None:
    """Refuse a page that cannot be written, before the work."""
    existed = target.exists()
    try:
        target.open("ab").close()
    except OSError as error:
        raise ValueError(
            f"cannot write {target}: {error.strerror}; name another file with {option}"
        ) from None
    if not existed:
        target.unlink()


def _program() -> str:
    """The command as the user typed it."""
    return "calibkit" if Path(sys.argv[0]).stem == "calibkit" else "python -m calibkit"


def _parser(*, with_course: bool = True) -> argparse.ArgumentParser:
    prog = _program()
    groups = (
        f"{group}:\n" + "\n".join(f"  {name:<12} {words}" for name, words in commands.items())
        for group, commands in GROUPS.items()
    )
    listed = "\n\n".join(groups)
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s COMMAND ...",
        description="A course on the calibration of deep networks, and an audit of your own.",
        epilog=f"{listed}\n\n{prog} COMMAND --help says what a command takes.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"calibkit {__version__}")
    parser.set_defaults(takes_more=False)
    commands = parser.add_subparsers(required=True, prog=prog, help=argparse.SUPPRESS)
    commands.add_parser("doctor").set_defaults(command=_doctor)
    _add_audit(commands)
    if with_course:
        from calibkit.course.commands import add_all

        add_all(commands)
    for name, add in commands.choices.items():
        add.description = f"{HELP[name][0].upper()}{HELP[name][1:]}."
        add.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


EXAMPLE = """\
a CSV has a row a sample: its label, and a probability a class, or one of the positive class:

  label,p_cat,p_dog        label,p        label,logit_0,logit_1,logit_2
  dog,0.08,0.92            1,0.92         2,-0.31,1.25,3.02
  cat,0.71,0.29            0,0.35         0,2.20,0.14,-1.07
  cat,0.34,0.66            1,0.20         1,0.90,0.71,-2.15

  calibkit audit predictions.csv

answers of a language model have a line each, how sure it was and whether it was right:

  {"confidence": 0.93, "correct": true, "subject": "law"}

  calibkit audit answers.jsonl --groups subject --costs 1 20
"""


OPTIONS = """\
--scores COLUMN       columns of scores, parted by commas; p_* for all that begin with p_
--label COLUMN        of labels, where it is not called so
--positive VALUE      the label that one column of scores is of, or that says right; all others \
are the other
--predicted COLUMN    column of predictions, where the score is how sure each of them is
--first-class N       the number of the first class, where labels do not count from 0
--classes NAME,NAME   the labels of the columns of scores, in the order of these columns
--kind KIND           what the scores are
--columns NAME,NAME   names of the columns of a text that has no header
--missing VALUE       what stands for no value, such as --missing=-999
--drop-missing        leave out rows without a label or a finite score
--labels FILE         a file of the labels alone, such as .npy
--scale N             what scores are divided by, such as 10 for a confidence from 1 to 10
--encoding NAME       of a text that is not UTF-8
--plain-quotes        quotation marks are characters of the texts
--joined-lines        the lines that quotation marks join are one row
--labels-are-true     the labels are the truth, though they are what the scores say everywhere
--rows-are-samples    each row is a sample, though scores of equal values elsewhere sum to 1
--sorted-classes      columns of scores are classes, though sorted in every row
--columns-as-named    columns are as they are named, though another order fits much better
--groups COLUMN       by which to judge group by group
--cluster COLUMN      rows of one value belong together, such as those of one patient
--weights COLUMN      how much each row counts; repetition makes nothing surer
--calibration FILE    data to fit the temperature on
--other FILE          a second model on the same rows
--costs COST          of a binary model, what a false alarm and a miss cost, such as 1 20; of \
answers, what looking one up and acting on a wrong one cost
--name NAME           name of the model; default: of the file
--bins BINS           bins of equal width; default: 15
--target TARGET       the page; default: audit.html
--json FILE           write the page's numbers, too
--fail-above MEASURE=LIMIT  end with 1 where a measure is above its limit, such as ece=.05 or \
gap=.02; repeatable
"""
KINDS = ("probs", "logits", "percent", "logprobs", "confidence", "auto")
READ: dict[str, dict[str, Any]] = {  # how these are read; the others are texts, or switches
    **{"--first-class": {"type": int}, "--scale": {"type": float}, "--bins": {"type": int}},
    "--kind": {"choices": KINDS, "metavar": None},
    "--cluster": {"dest": "clusters"},
    "--costs": {"nargs": 2, "type": float, "metavar": ("ALARM", "MISS")},
    "--target": {"default": "audit.html"},
    "--fail-above": {"action": "append", "default": []},
}


def _add_audit(commands) -> None:
    usage = "%(prog)s FILE [OPTION ...], such as audit predictions.csv; --help lists the options"
    add = commands.add_parser("audit", usage=usage, epilog=EXAMPLE)
    add.set_defaults(command=_audit)
    forms = ".csv, .tsv, .txt, .parquet, .feather, .jsonl, .npz, .npy or .pt"
    add.add_argument("file", metavar="FILE", help=f"predictions: {forms}")
    for line in OPTIONS.splitlines():
        option, words = line.split("  ", maxsplit=1)
        name, _, value = option.partition(" ")
        how: dict[str, Any] = {"metavar": value} if value else {"action": "store_true"}
        add.add_argument(name, help=words.strip(), **how | READ.get(name, {}))


if __name__ == "__main__":
    sys.exit(main())
