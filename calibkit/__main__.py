"""Command line: `calibkit` or `python -m calibkit`, then lab, doctor, audit, course, pages, ..."""

from __future__ import annotations

import argparse
import errno
import math
import os
import sys
import tempfile
from pathlib import Path

from calibkit import __version__
from calibkit.course.classroom import commands as classroom

INTERRUPTED = 130  # what a shell says of a command that Ctrl-C ended


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when all went well."""
    print_in_any_encoding()
    parser = _parser()
    options, more = parser.parse_known_args(arguments)
    if more and options.command is not _lab:
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
    except KeyboardInterrupt:
        print("calibkit: stopped by Ctrl-C", file=sys.stderr)
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


def _lab(options) -> int:
    from calibkit.course import jupyter

    jupyter.start(options.more)
    return 0


def _audit(options) -> int:
    from calibkit import auditing

    _demand_writable(Path(options.target))
    if options.json is not None:
        _demand_writable(Path(options.json), "--json")
    limits = dict(map(_limit, options.fail_above))
    auditing.demand_measures(limits)
    chosen = {key: getattr(options, key) for key in AUDIT if getattr(options, key) is not None}
    audit = auditing.audit_files(options.file, **chosen)
    page = audit.write(options.target).resolve()
    print(audit)
    print(f"the page: {page}")
    if options.json is not None:
        print(f"the numbers: {audit.write_json(options.json).resolve()}")
    failed = audit.over(limits)
    for text in failed:
        print(f"calibkit: {text}", file=sys.stderr)
    return 1 if failed else 0


AUDIT = (
    *("label", "groups", "labels", "calibration", "other", "name", "kind", "bins", "scores"),
    *("positive", "first_class", "classes", "predicted", "columns", "missing", "drop_missing"),
    *("clusters", "weights", "costs"),
)


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


def _course(options) -> int:
    from calibkit.course import execution

    return _report(execution.run_all(options.scale, **_chosen(options)))


def _notebooks(options) -> int:
    from calibkit.course import execution

    return _report(execution.publish_all(**_chosen(options)))


def _chosen(options) -> dict:
    named = {"jobs": options.jobs, "only": options.only, "limit": options.limit}
    return named | {"with_evidence": options.evidence}


def _pages(options) -> int:
    from calibkit.course import pages

    trust = True if options.trust else None
    for path in pages.export_all(options.source, options.target, options.only, trust=trust):
        print(f"{path}  {path.stat().st_size / 1e3:.0f} kB")
    return 0


def _site(options) -> int:
    from calibkit.course import site

    print(f"open {site.build(options.target).resolve()}")
    return 0


def _play(options) -> int:
    from calibkit.course import browser

    print(f"open {browser.write(browser.playground(), options.target).resolve()}")
    return 0


def _explorer(options) -> int:
    from calibkit.course.explorers import anywhere

    if options.name is None:
        print("\n".join(anywhere.names()))
        return 0
    page = anywhere.write(options.name, options.target or options.name)
    print(f"open {page.resolve()}")
    return 0


def _audit_page(options) -> int:
    from calibkit.course import browser

    print(f"open {browser.write(browser.audit(), options.target).resolve()}")
    return 0


def _claims(options) -> int:
    from calibkit.course import checkout, claims, experiments

    notebooks = checkout.root() / "notebooks"
    folder = checkout.root() / "build" / "course" / options.scale if options.scale else notebooks
    printed, listed = claims.printed(folder), claims.listed(notebooks / claims.DETAIL)
    print(claims.summary(printed, listed))
    print()
    print(claims.conclusions_table(claims.conclusions(folder), printed, listed))
    print()
    print(claims.table(printed, listed))
    print()
    print(claims.evidence(printed, listed, experiments.photographed(notebooks / "results")))
    return 0


def _reproduce(options) -> int:
    from calibkit.course import checkout, experiments

    folder = Path(options.target or checkout.root() / "notebooks" / "results")
    if options.name == [experiments.networks.NAME]:
        return _networks(options, folder)
    if options.name == [experiments.nights.NAME]:
        return _nights(options)
    named = ("dataset", "network", "vectors", "root", "device", "jobs")
    chosen = {option: getattr(options, option) for option in named}
    names = experiments.EXPERIMENTS if options.name == ["all"] else options.name
    if options.estimate:
        return _estimate(names, options)
    chosen["seeds"] = None if options.seeds is None else range(options.seeds)
    for name in names:
        page = experiments.write(experiments.run(name, options.scale, **chosen), folder)
        print(page.read_text(encoding="utf-8"))
    return 0


def _networks(options, folder: Path) -> int:
    from calibkit.course.experiments import networks

    seeds = networks.SEEDS[: options.seeds]
    table = networks.run(options.scale, seeds, device=options.device, jobs=options.jobs)
    print(networks.write(table, folder).read_text(encoding="utf-8"))
    return 0


def _estimate(names, options) -> int:
    from calibkit.course.experiments import effort

    chosen = {option: getattr(options, option) for option in ("dataset", "network", "seeds")}
    for name in names:
        print(effort.told(name, options.scale, **chosen))
    return 0


def _nights(options) -> int:
    from calibkit.course.experiments import night_runs

    named = ("seeds", "network", "jobs", "root", "device")
    chosen = {option: getattr(options, option) for option in named}
    folder = None if options.target is None else Path(options.target)
    return 1 if night_runs.run_all(**chosen, folder=folder) else 0


def _arbiter(options) -> int:
    from calibkit.course.experiments import arbiter, arbiter_figure, arbiter_page

    chosen = {"device": options.device, "jobs": options.jobs}
    table = arbiter.run(options.scale, options.target, fresh=options.fresh, **chosen)
    page = arbiter_page.write(table)
    print(page.read_text(encoding="utf-8"))
    print(f"the table: {table.resolve()}")
    print(f"the figure: {arbiter_figure.write(table).resolve()}")
    return 0


def _report(results) -> int:
    from calibkit.course import execution

    print(execution.table(results))
    if execution.stopped(results):
        print("calibkit: stopped by Ctrl-C; what is ok above is written", file=sys.stderr)
        return INTERRUPTED
    return 1 if any(result.error for result in results) else 0


def _parser() -> argparse.ArgumentParser:
    called = Path(sys.argv[0]).stem == "calibkit"
    prog = "calibkit" if called else "python -m calibkit"
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    parser.add_argument("--version", action="version", version=f"calibkit {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    limit = "end a lesson that lasts longer; default: by scale, none for days of training"
    add = commands.add_parser("doctor", help="what is installed, which device, what is missing")
    add.set_defaults(command=_doctor)
    add = commands.add_parser("lab", help="JupyterLab on lesson 00; more options go to JupyterLab")
    add.set_defaults(command=_lab)
    _add_audit(commands)
    add = commands.add_parser("course", help="execute every notebook headless into build/")
    add.set_defaults(command=_course)
    add.add_argument("--scale", default="laptop", help="smoke, laptop, night, gpu, paper")
    add.add_argument("--jobs", type=int, default=2, help="notebooks at a time")
    add.add_argument("--only", help="lessons whose name starts with this, such as 01")
    add.add_argument("--limit", type=float, metavar="SECONDS", help=limit)
    evidence = "the evidence beside the lessons, too"
    add.add_argument("--evidence", action="store_true", help=evidence)
    add = commands.add_parser("notebooks", help="execute notebooks/source into the notebooks")
    add.set_defaults(command=_notebooks)
    add.add_argument("only", nargs="?", help="lessons whose name starts with this, such as 01")
    add.add_argument("--jobs", type=int, default=2, help="notebooks at a time")
    add.add_argument("--limit", type=float, metavar="SECONDS", help=limit)
    add.add_argument("--evidence", action="store_true", help=evidence)
    add = commands.add_parser("claims", help="all verdicts beside the sources' own figures")
    add.set_defaults(command=_claims)
    add.add_argument("--scale", help="of an execution under build/course; default: as committed")
    add = commands.add_parser("reproduce", help="a lesson's experiment on real data")
    add.set_defaults(command=_reproduce)
    names = (
        "noise, focal ..., text, captions; all: those on photographs, the lessons' first first; "
    )
    names += "networks: all networks of the course, on its own data; "
    names += "nights: the list of runs on photographs, those that are not stored yet"
    add.add_argument("name", nargs="+", help=names)
    add.add_argument("--scale", default="laptop", help="laptop, night, gpu, paper")
    add.add_argument("--dataset", help="prepared by python -m data_scripts; default: cifar10")
    add.add_argument("--network", help="in place of the scale's own, such as WRN-26-10")
    add.add_argument("--seeds", type=int, help="how many, by default the scale's own number")
    add.add_argument("--root", help="folder of the prepared datasets")
    add.add_argument("--vectors", help="of text: a file of word vectors to start from, GloVe's say")
    add.add_argument("--device", default="auto", help="cpu, cuda, cuda:1, auto")
    add.add_argument("--jobs", type=int, help="processes")
    add.add_argument("--target", help="folder of the tables, by default notebooks/results")
    estimate = "say what it would take, of photographs, and train nothing"
    add.add_argument("--estimate", action="store_true", help=estimate)
    add = commands.add_parser(
        "arbiter",
        help="which recalibration comes closest to an exact posterior, from how many labels",
    )
    add.set_defaults(command=_arbiter)
    add.add_argument("--scale", default="laptop", help="laptop (minutes) or smoke (seconds)")
    add.add_argument("--fresh", action="store_true", help="begin anew, not after the last row")
    add.add_argument("--device", default="cpu", help="of the networks' training: cpu, cuda, auto")
    add.add_argument("--jobs", type=int, help="processes of the networks' training")
    add.add_argument("--target", help="folder of the tables, by default notebooks/results")
    add = commands.add_parser("pages", help="write the executed notebooks as HTML into build/pages")
    add.set_defaults(command=_pages)
    add.add_argument("only", nargs="?", help="lessons whose name starts with this, such as 01")
    add.add_argument("--source", help="folder of executed notebooks, by default notebooks")
    add.add_argument("--target", help="folder of the pages, by default build/pages")
    trust = "keep scripts and sliders: only for a --source that you executed yourself"
    add.add_argument("--trust", action="store_true", help=trust)
    classroom.add(commands)
    add = commands.add_parser("play", help="write the playground: a network trains in the browser")
    add.set_defaults(command=_play)
    add.add_argument("target", nargs="?", default="play.html", help="the page; default: play.html")
    add = commands.add_parser("explorer", help="write a slider as a folder, for pages of your own")
    add.set_defaults(command=_explorer)
    add.add_argument("name", nargs="?", help="of the slider; without it all names are printed")
    add.add_argument("target", nargs="?", help="the folder; by default one of the slider's name")
    what = "write the page that audits predictions in the browser, where nothing is installed"
    add = commands.add_parser("audit-page", help=what)
    add.set_defaults(command=_audit_page)
    where = "the page; default: audit_page.html"
    add.add_argument("target", nargs="?", default="audit_page.html", help=where)
    add = commands.add_parser("site", help="write the whole course as a web site into build/site")
    add.set_defaults(command=_site)
    add.add_argument("target", nargs="?", help="folder of the site, by default build/site")
    return parser


def _add_audit(commands) -> None:
    add = commands.add_parser(
        "audit",
        help="one page about the calibration of your own model",
        epilog="answers of a language model, a confidence and right or wrong a line: "
        "calibkit audit answers.jsonl --groups subject --costs 1 20",
    )
    add.set_defaults(command=_audit)
    forms = ".csv, .tsv, .txt, .parquet, .feather, .jsonl, .npz, .npy or .pt"
    add.add_argument("file", help=f"predictions: {forms}")
    what = "columns of scores, parted by commas; p_* for all that begin with p_"
    add.add_argument("--scores", metavar="COLUMN", help=what)
    add.add_argument("--label", metavar="COLUMN", help="of labels, where it is not called so")
    what = "the label that one column of scores is of; all others are the other class"
    add.add_argument("--positive", metavar="VALUE", help=what)
    what = "column of predictions, where the score is how sure each of them is"
    add.add_argument("--predicted", metavar="COLUMN", help=what)
    what = "the number of the first class, where labels do not count from 0"
    add.add_argument("--first-class", type=int, metavar="N", help=what)
    what = "names of the classes in the order of the columns of scores"
    add.add_argument("--classes", metavar="NAME,NAME", help=what)
    kinds = ("probs", "logits", "percent", "logprobs", "auto")
    add.add_argument("--kind", choices=kinds, help="what the scores are")
    what = "names of the columns of a text that has no header"
    add.add_argument("--columns", metavar="NAME,NAME", help=what)
    what = "what stands for no value, such as --missing=-999"
    add.add_argument("--missing", metavar="VALUE", help=what)
    what = "leave out rows without a label or a finite score"
    add.add_argument("--drop-missing", action="store_true", help=what)
    add.add_argument("--labels", metavar="FILE", help="labels of an .npy file of scores")
    add.add_argument("--groups", metavar="COLUMN", help="by which to judge group by group")
    what = "rows of one value belong together, such as those of one patient"
    add.add_argument("--cluster", dest="clusters", metavar="COLUMN", help=what)
    what = "how much each row counts; repetition makes nothing surer"
    add.add_argument("--weights", metavar="COLUMN", help=what)
    add.add_argument("--calibration", metavar="FILE", help="data to fit the temperature on")
    add.add_argument("--other", metavar="FILE", help="a second model on the same rows")
    what = "of a binary model, what a false alarm and a miss cost, such as 1 20; of answers, "
    what += "what looking one up and acting on a wrong one cost"
    add.add_argument("--costs", nargs=2, type=float, metavar=("ALARM", "MISS"), help=what)
    add.add_argument("--name", help="name of the model; default: of the file")
    add.add_argument("--bins", type=int, help="bins of equal width; default: 15")
    add.add_argument("--target", default="audit.html", help="the page; default: audit.html")
    add.add_argument("--json", metavar="FILE", help="write the page's numbers, too")
    what = "end with 1 where a measure is above its limit, such as ece=.05 or gap=.02; repeatable"
    add.add_argument(
        "--fail-above", action="append", default=[], metavar="MEASURE=LIMIT", help=what
    )


if __name__ == "__main__":
    sys.exit(main())
