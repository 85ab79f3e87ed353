"""The commands that need the folder of the course: `lab`, `course`, `pages`, `student`, ..."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from calibkit.course.classroom import commands as classroom

LAB = """\
More options go to JupyterLab, such as --no-browser, --port=9999 or --ip=0.0.0.0;
python -m jupyterlab --help lists them all.
"""

# Each command imports what it needs.


def _lab(options) -> int:
    from calibkit.course import jupyter

    jupyter.start(options.more, work=options.work, again=options.reset)
    return 0


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


def _open(options) -> int:
    from calibkit.course import door

    for path in door.write(options.target):
        print(f"{path}  {path.stat().st_size / 1e3:.0f} kB")
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
        raise KeyboardInterrupt("stopped by Ctrl-C; what is ok above is written")
    return 1 if any(result.error for result in results) else 0


def _add(commands, name: str, command: Callable) -> argparse.ArgumentParser:
    """The parser of a command, which `command` runs."""
    add = commands.add_parser(name)
    add.set_defaults(command=command)
    return add


def add_all(commands) -> None:
    """Add the commands of the course to the parser of `python -m calibkit`."""
    limit = "end a lesson that lasts longer; default: by scale, none for days of training"
    add = _add(commands, "lab", _lab)
    add.epilog = LAB
    add.set_defaults(takes_more=True)
    add.add_argument(
        "--reset", metavar="LESSON", help="copy a lesson anew, such as 06; yours is kept"
    )
    add.add_argument(
        "--work", metavar="FOLDER", help="of your copies; default: work, in the course's"
    )
    add = _add(commands, "course", _course)
    add.add_argument("--scale", default="laptop", help="smoke, laptop, night, gpu, paper")
    add.add_argument("--jobs", type=int, default=2, help="notebooks at a time")
    add.add_argument("--only", help="lessons whose name starts with this, such as 01")
    add.add_argument("--limit", type=float, metavar="SECONDS", help=limit)
    evidence = "the evidence beside the lessons, too"
    add.add_argument("--evidence", action="store_true", help=evidence)
    add = _add(commands, "notebooks", _notebooks)
    add.add_argument("only", nargs="?", help="lessons whose name starts with this, such as 01")
    add.add_argument("--jobs", type=int, default=2, help="notebooks at a time")
    add.add_argument("--limit", type=float, metavar="SECONDS", help=limit)
    add.add_argument("--evidence", action="store_true", help=evidence)
    add = _add(commands, "claims", _claims)
    add.add_argument("--scale", help="of an execution under build/course; default: as committed")
    add = _add(commands, "reproduce", _reproduce)
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
    add = _add(commands, "arbiter", _arbiter)
    add.add_argument("--scale", default="laptop", help="laptop (minutes) or smoke (seconds)")
    add.add_argument("--fresh", action="store_true", help="begin anew, not after the last row")
    add.add_argument("--device", default="cpu", help="of the networks' training: cpu, cuda, auto")
    add.add_argument("--jobs", type=int, help="processes of the networks' training")
    add.add_argument("--target", help="folder of the tables, by default notebooks/results")
    add = _add(commands, "pages", _pages)
    add.add_argument("only", nargs="?", help="lessons whose name starts with this, such as 01")
    add.add_argument("--source", help="folder of executed notebooks, by default notebooks")
    add.add_argument("--target", help="folder of the pages, by default build/pages")
    trust = "keep scripts and sliders: only for a --source that you executed yourself"
    add.add_argument("--trust", action="store_true", help=trust)
    classroom.add(commands)
    add = _add(commands, "play", _play)
    add.add_argument("target", nargs="?", default="play.html", help="the page; default: play.html")
    add = _add(commands, "explorer", _explorer)
    add.add_argument("name", nargs="?", help="of the slider; without it all names are printed")
    add.add_argument("target", nargs="?", help="the folder; by default one of the slider's name")
    add = _add(commands, "audit-page", _audit_page)
    where = "the page; default: audit_page.html"
    add.add_argument("target", nargs="?", default="audit_page.html", help=where)
    add = _add(commands, "site", _site)
    add.add_argument("target", nargs="?", help="folder of the site, by default build/site")
    add = _add(commands, "open", _open)
    add.add_argument("target", nargs="?", help="their folder, by default notebooks/open")
