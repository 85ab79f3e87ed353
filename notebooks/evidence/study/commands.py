"""What `calibkit reproduce` and `calibkit arbiter` do with their options."""

from __future__ import annotations

from pathlib import Path

from calibkit.course import checkout, experiments
from study import all_networks, arbiter, engine, night_runs, reports


def reproduce(options) -> int:
    """Train again what the stored tables were made of; the code that the command ends with."""

    def chosen(*names: str) -> dict:
        return {name: getattr(options, name) for name in names}

    target = None if options.target is None else Path(options.target)
    folder = target or checkout.root() / "notebooks" / "results"
    if options.name == [experiments.networks.NAME]:
        seeds = all_networks.SEEDS[: options.seeds]
        table = all_networks.run(options.scale, seeds, **chosen("device", "jobs"))
        print(experiments.networks.kappas(table).round(3).to_string(index=False))
        print(f"the table: {all_networks.write(table, folder).resolve()}")
        return 0
    if options.name == [experiments.photograph_runs.NAME]:
        named = chosen("seeds", "network", "jobs", "root", "device")
        return 1 if night_runs.run_all(**named, folder=target) else 0
    for name in engine.EXPERIMENTS if options.name == ["all"] else options.name:
        named = chosen("dataset", "network", "vectors", "root", "device", "jobs")
        seeds = None if options.seeds is None else range(options.seeds)
        done = engine.run(name, options.scale, seeds=seeds, **named)
        path = reports.write(done, folder)
        print(f"{reports.told(done)}\n\nthe table: {path.resolve()}")
    return 0


def compare(options) -> int:
    """Compare maps of recalibration; the code that the command ends with."""
    chosen = {"device": options.device, "jobs": options.jobs}
    path = arbiter.run(options.scale, options.target, **chosen)
    table = arbiter.stored(options.target, options.scale)
    print(arbiter.by_cell(table).groupby(arbiter.PLACE, sort=False).mean().round(3).to_string())
    print(f"the table: {path.resolve()}")
    return 0
