"""What the lessons train and measure, a study a module; `tables` are stored runs on real data.

`networks` reads all networks of the course, each with its place in the plane; `photograph_runs` are
runs on photographs at equal weight decays, with logits. What only evidence and commands call is in
notebooks/evidence/study.

By lesson: 00, 08 `real_network`; 04 `architectures`; 05 `sizes`; 09 `soft_targets`; 10
`focal_gammas`; 12 `mixed`; 13 `shifted`; 14 `choices`; 15 `notes`; 16 `translated`; 17 `vendor`,
`label_cleaning`, `file_types`; 18 `readers`; 19 `pharmacy`; 20 `scanners`; 21 `facts`, `speaker`,
`answers`, `hallucination`. They share `ways` (of training), `strengths` (of each, and tables of
them).
"""

from calibkit.course.experiments import networks, photograph_runs
from calibkit.course.experiments.tables import on_photographs, on_text, stored

__all__ = ["networks", "on_photographs", "on_text", "photograph_runs", "stored"]
