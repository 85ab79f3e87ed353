"""`python -m tests.mutation draw`, or `run OUT.json`: see the package."""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest
from coverage import CoverageData

from tests.mutation.mutants import Mutant, line, mutants, mutated

ROOT = Path(__file__).parents[2]
SAMPLE = Path(__file__).with_name("sample.json")
# of a processor, for the tests of one mutant (the longest need 90): what hangs is caught
SECONDS = 180
# where the tests of a source stand
TESTS = {
    "calibkit/metrics/*.py": "tests/metrics",
    "calibkit/losses.py": "tests/test_losses.py",
    "calibkit/recalibration/*.py": "tests/recalibration",
    "calibkit/curation/*.py": "tests/curation",
    "calibkit/lab/training/*.py": "tests/lab/training",
    "calibkit/course/verdicts.py": "tests/course/test_verdicts.py",
    "calibkit/course/check/[!l]*.py": "tests/course/check",
    "calibkit/auditing/*.py": "tests/auditing",
}


def draw(count: int, seed: int, sample: list[Mutant]) -> list[Mutant]:
    """The same number from each part (or all that it has): of the sample what stands, then new."""
    rng, drawn, share = random.Random(seed), [], -(-count // len(TESTS))
    for pattern in TESTS:
        found = [
            mutant
            for path in sorted(ROOT.glob(pattern))
            for mutant in mutants(str(path.relative_to(ROOT)), path.read_text("utf-8"))
        ]
        stands = [mutant for mutant in sample if mutant in found][:share]
        rest = [mutant for mutant in found if mutant not in stands]
        drawn += stands + rng.sample(rest, min(len(rest), share - len(stands)))
    return drawn[:count]


def judge(mutant: Mutant, checkout: Path, covering: Covering) -> str:
    """`killed`, `alive`, or `gone` where its code stands no more."""
    target, original = checkout / mutant.file, ROOT / mutant.file
    source = original.read_text("utf-8") if original.exists() else ""
    changed = mutated(mutant, source)
    if changed is None:
        return "gone"
    tests = covering.tests(mutant.file, line(mutant, source))  # of the code as it is
    target.write_text(changed, encoding="utf-8")
    try:
        return "alive" if _pass(checkout, tests) else "killed"
    finally:
        target.write_text(source, encoding="utf-8")


class Covering:
    """Which test functions run a line, found once for all tests of a part."""

    def __init__(self, checkout: Path, work: Path):
        self.checkout, self.work, self.found = checkout, work, {}

    def tests(self, file: str, line: int) -> list[str]:
        """As pytest names them; all of the part where none is known, or a fixture runs the line."""
        tests = next(tests for pattern, tests in TESTS.items() if Path(file).match(pattern))
        if tests not in self.found:
            self.found[tests] = self._run(tests)
        data = self.found[tests]
        contexts = data.contexts_by_lineno(str(self.checkout / file)).get(line, [""])
        known = all(context.startswith("tests.") for context in contexts)
        return sorted(map(self._name, contexts)) if known else [tests]

    def _run(self, tests: str) -> CoverageData:
        kept = self.work / f"{Path(tests).stem}.coverage"
        settings = self.work / "coveragerc"
        settings.write_text("[run]\ndynamic_context = test_function\n", encoding="utf-8")
        options = ["-m", "coverage", "run", f"--rcfile={settings}", f"--data-file={kept}"]
        with _pytest(
            self.checkout, [*options, f"--source={self.checkout / 'calibkit'}"], [tests]
        ) as run:
            run.wait()
        data = CoverageData(str(kept))
        data.read()
        return data

    def _name(self, context: str) -> str:
        """tests.metrics.test_plane.test_kappa -> tests/metrics/test_plane.py::test_kappa"""
        parts = context.split(".")
        end = next(n for n, part in enumerate(parts, 1) if part.startswith("test_"))
        return "::".join([f"{'/'.join(parts[:end])}.py", *parts[end:]])


def _pytest(checkout: Path, before: list[str], tests: list[str], **more) -> subprocess.Popen:
    command = [sys.executable, *before, "-m", "pytest", "-q", "-m", "not slow"]
    settings = os.environ | {"PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*command, "-p", "no:cacheprovider", "-x" if more else "-q", *tests],
        cwd=checkout, env=settings, start_new_session=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, **more,
    )  # fmt: skip


def _pass(checkout: Path, tests: list[str]) -> bool:
    with _pytest(checkout, [], tests, preexec_fn=_limit) as run:
        try:
            status = run.wait(10 * SECONDS)  # what sleeps uses no processor
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            return False
    if status in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"pytest ran none of {tests}, so that nothing is judged")
    return status == 0


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("what", choices=("draw", "run"))
    parser.add_argument("out", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="*", help="files such as calibkit/metrics/*")
    told = parser.parse_args()
    if told.what == "draw":
        sample = [Mutant(**row) for row in json.loads(SAMPLE.read_text("utf-8"))]
        rows = [asdict(mutant) for mutant in draw(told.count, told.seed, sample)]
        lines = ",\n".join(map(json.dumps, rows))
        told.out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        return
    rows = json.loads(SAMPLE.read_text("utf-8"))
    rows = [row for row in rows if Path(row["file"]).match(told.only)]
    done = json.loads(told.out.read_text("utf-8")) if told.out.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        leave = shutil.ignore_patterns(".git", ".venv", "build", "__pycache__")
        shutil.copytree(ROOT, checkout, ignore=leave)
        covering = Covering(checkout, Path(folder))
        for row in rows[len(done) :]:  # what was judged before an interrupt stays
            begun = time.monotonic()
            result = judge(Mutant(**row), checkout, covering)
            done.append({"result": result, "seconds": round(time.monotonic() - begun, 1)})
            told.out.write_text(json.dumps(done), encoding="utf-8")
            print(len(done), result, row["file"], row["function"], row["old"][:60], flush=True)
    counted = Counter(one["result"] for one in done)
    judged = counted["killed"] + counted["alive"]
    print(f"{counted['killed']} killed of {judged}; {counted['gone']} gone")


if __name__ == "__main__":
    main()
