"""`python -m tests.benchmarks [name ...]`: speed as ratios against peers, in one run.

Every module bench_NAME.py beside this file has `rows()`, a generator of `timing.Row`.
"""

import importlib
import sys
from pathlib import Path

import torch


def main(names: list[str]) -> None:
    torch.set_num_threads(1)
    known = sorted(p.stem.removeprefix("bench_") for p in Path(__file__).parent.glob("bench_*.py"))
    for name in names or known:
        if name not in known:
            sys.exit(f"no benchmark called {name!r}; there are {', '.join(known)}")
        print(f"\n{name}\n{'work':44} {'against':34} {'ratio':>9} {'target':>9} {'ours':>12}")
        for row in importlib.import_module(f"tests.benchmarks.bench_{name}").rows():
            met = " " if row.met() else "  target missed"
            print(
                f"{row.work:44} {row.against:34} {row.ratio:9.2f} >= {row.target:6g} "
                f"{row.ours_ms:9.3f} ms{met}",
                flush=True,
            )


main(sys.argv[1:])
