"""What the lessons train and measure, a study a module; `tables` are stored runs on real data.

`networks` reads all networks of the course, each with its place in the plane; `photograph_runs` are
runs on photographs at equal weight decays, with logits. What only evidence and commands call is in
notebooks/evidence/study.
"""

from calibkit.course.experiments import networks, photograph_runs
from calibkit.course.experiments.tables import on_photographs, on_text, stored

__all__ = ["networks", "on_photographs", "on_text", "photograph_runs", "stored"]
