"""The settings of Sphinx; `calibkit.course.site.build` names the folders."""

import re
from pathlib import Path

project = "calibkit"
html_title = "calibkit"
extensions = ["sphinx.ext.autodoc", "calibkit.course.site.sphinx_extension"]
root_doc = "index"

html_theme = "furo"
templates_path = ["templates"]
html_favicon = "static/favicon.svg"
html_css_files = ["site.css", "figures.css"]  # the second is made from the palette
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_use_index = False
html_domain_indices = False
# a summary of each hit would be fetched from its page, which browsers forbid without a server
html_show_search_summary = False
# type and grounds are those of the pages that compute in the browser: light, then dark
THEME = (Path(__file__).parents[1] / "browser" / "shared" / "theme.css").read_text("utf-8")
FONTS = {"font-stack": "sans", "font-stack--headings": "serif", "font-stack--monospace": "mono"}
GROUNDS = {
    "color-foreground-primary": "ink",
    "color-foreground-secondary": "soft",
    "color-background-primary": "ground",
    "color-background-secondary": "panel",
    "color-background-border": "line",
    "color-brand-primary": "link",
    "color-brand-content": "link",
    "color-sidebar-link-text": "ink",
    "color-sidebar-link-text--top-level": "ink",
}


def _named(names: dict[str, str], place: int) -> dict[str, str]:
    """Furo's variables with the values of the theme's: the first or the second that it gives."""
    every = {name: re.findall(rf"--{name}: ([^;]+);", THEME) for name in names.values()}
    return {ours: every[name][place] for ours, name in names.items()}


html_theme_options = {
    "light_css_variables": _named(FONTS | GROUNDS, 0)
    | {
        "color-foreground-muted": "#676e78",
        "color-brand-visited": "#6a3d7c",
        "color-sidebar-background": "#f7f5f0",
        "color-sidebar-caption-text": "#6b4a1f",
    },
    "dark_css_variables": _named(GROUNDS, 1)
    | {
        "color-foreground-muted": "#9aa0a8",
        "color-brand-visited": "#cba6dd",
        "color-sidebar-background": "#1a1d22",
        "color-sidebar-caption-text": "#e0b675",
    },
}

autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
ARRAY = "calibkit.validate.Array"  # is described on the page of the package
autodoc_type_aliases = {
    "Array": ARRAY,
    "Labels": f"{ARRAY} | None",
    "Numbers": f"float | {ARRAY}",
    "Scored": f"{ARRAY} | calibkit.metrics.TopLabel",
    "Weights": f"{ARRAY} | None",
}
add_module_names = False
python_maximum_signature_line_length = 60
python_display_short_literal_types = True
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
