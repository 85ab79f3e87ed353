"""A grid of trainings: in goes what varies, out comes a table and every run's predictions."""

from calibkit.lab.sweep.grid import Outcome, Sweep, run

__all__ = ["Outcome", "Sweep", "run"]
