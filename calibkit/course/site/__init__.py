"""The course as a web site that is read without a server: `python -m calibkit site`.

Sphinx with the theme furo brings navigation, search without a network, a light and a dark face and
the description of the package. The lessons are drawn by `pages`, which folds answers, keeps the
sliders and writes formulas as MathML, and given to Sphinx section by section. There
is no second theme: others need a network for formulas, fold no answer, and weigh more a page.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

from calibkit.course import checkout
from calibkit.pictures.percent import spaced

HERE = Path(__file__).parent
MISSING = 'the site needs Sphinx and its theme: python -m pip install "calibkit[site]"'


class SiteError(ValueError):
    """A site that would be incomplete, with what Sphinx says is wrong."""


def build(target: str | Path | None = None) -> Path:
    """Write the whole site and return its first page; nothing is executed or trained.

    target: the folder of the site, emptied first if it holds an older one; by default build/site.

    Raises SiteError where Sphinx is not installed or warns of anything, and ValueError for a
    folder that holds something else.
    """
    try:
        from sphinx.application import Sphinx
    except ImportError:
        raise SiteError(MISSING) from None
    from calibkit.course.site import sources

    target = Path(target or checkout.root() / "build" / "site")
    if target.exists() and any(target.iterdir()) and not (target / "searchindex.js").exists():
        raise ValueError(
            f"target must be a new folder or an older site, got {target}, which holds other "
            f"files; name another folder"
        )
    warnings = io.StringIO()
    with tempfile.TemporaryDirectory() as work:
        source, made = Path(work, "source"), Path(work, "site")
        sources.write(source)
        folders = {
            "html_extra_path": [str(source / "extra")],
            "html_static_path": [f"{HERE}/static", str(source / "static")],
        }
        trees = Path(work, "doctrees")
        app = Sphinx(source, HERE, made, trees, "html", folders, status=None, warning=warnings)
        app.build()
        if warnings.getvalue() or app.statuscode:
            raise SiteError(f"Sphinx warns of something in the site:\n{warnings.getvalue()}")
        for page in made.rglob("*.html"):
            page.write_text(spaced(page.read_text(encoding="utf-8")), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)  # no page of an older site may stay
        shutil.move(made, target)
    return target / "index.html"
