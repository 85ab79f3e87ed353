"""The script that moves an explorer's pictures, in JupyterLab and on pages."""

from importlib import resources

FACE = resources.files("calibkit.explorers").joinpath("face.js").read_text(encoding="utf-8")
