"""What only the lessons need: checkers, sliders, verdicts, experiments, and what makes the pages.

Its parts are loaded when they are asked for: `from calibkit.course import check, explorers`.
"""
