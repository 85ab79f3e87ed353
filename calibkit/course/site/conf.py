"""The settings of Sphinx; `calibkit.course.site.build` names the folders."""

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
FONTS = {
    "font-stack": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
    "font-stack--headings": "'Iowan Old Style', 'Palatino Linotype', Palatino, 'URW Palladio L', "
    "P052, 'Book Antiqua', Georgia, 'Noto Serif', serif",
    "font-stack--monospace": "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', "
    "monospace",
}
html_theme_options = {
    "light_css_variables": FONTS
    | {
        "color-foreground-primary": "#1c2026",
        "color-foreground-secondary": "#535a63",
        "color-foreground-muted": "#676e78",
        "color-background-primary": "#ffffff",
        "color-background-secondary": "#f7f5f0",
        "color-background-border": "#dfdbd2",
        "color-brand-primary": "#00558a",
        "color-brand-content": "#00558a",
        "color-brand-visited": "#6a3d7c",
        "color-sidebar-background": "#f7f5f0",
        "color-sidebar-link-text": "#1c2026",
        "color-sidebar-link-text--top-level": "#1c2026",
        "color-sidebar-caption-text": "#6b4a1f",
    },
    "dark_css_variables": {
        "color-foreground-primary": "#e6e6e3",
        "color-foreground-secondary": "#b3b7bd",
        "color-foreground-muted": "#9aa0a8",
        "color-background-primary": "#16181d",
        "color-background-secondary": "#1e2127",
        "color-background-border": "#343942",
        "color-brand-primary": "#7cc4f0",
        "color-brand-content": "#7cc4f0",
        "color-brand-visited": "#cba6dd",
        "color-sidebar-background": "#1a1d22",
        "color-sidebar-link-text": "#e6e6e3",
        "color-sidebar-link-text--top-level": "#e6e6e3",
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
