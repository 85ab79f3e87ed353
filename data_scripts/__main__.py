"""Command line: `python -m data_scripts NAME [--root DIR] [--from-file FILE ...] | --list`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from calibkit.__main__ import print_in_any_encoding
from calibkit.lab.data import prepared


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when all went well."""
    print_in_any_encoding()
    options = _parser().parse_args(arguments)
    try:
        from data_scripts.prepare import prepare, table
        from data_scripts.registry import SOURCES
    except ImportError as error:  # pooch comes with the course, not with the bare package
        return _fail(f"{error}; install what is missing with  make lab  or  pip install pooch")
    root = options.root.expanduser()
    if options.list:
        print(table(SOURCES, root))
        return 0
    if options.name not in SOURCES:
        return _fail(f"NAME must be one of {', '.join(SOURCES)}, got {options.name!r}")
    try:
        prepare(SOURCES[options.name], root, [path.expanduser() for path in options.from_file])
    except (RuntimeError, OSError) as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("interrupted; run the same command again to go on")
    return 0


def _fail(message: str) -> int:
    print(f"data_scripts: {message}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m data_scripts", description=__doc__)
    add = parser.add_argument
    add("name", nargs="?", metavar="NAME", help="dataset, such as cifar10; --list names them all")
    add("--root", type=Path, default=prepared.default_root(), help="default: %(default)s")
    offline = "archives already on disk, or the folder that holds them: no network is used"
    add("--from-file", type=Path, nargs="+", default=[], metavar="FILE", help=offline)
    add("--list", action="store_true", help="all datasets with size, licence and state")
    return parser


if __name__ == "__main__":
    sys.exit(main())
