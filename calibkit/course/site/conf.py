"""The settings of Sphinx; `calibkit.course.site.build` names the folders."""

project = "calibkit"
html_title = "calibkit"
extensions = ["sphinx.ext.autodoc", "calibkit.course.site.reader"]
root_doc = "index"

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
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
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#005a8c",
        "color-brand-content": "#005a8c",
        "color-brand-visited": "#6a3d7c",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7cc4f0",
        "color-brand-content": "#7cc4f0",
        "color-brand-visited": "#cba6dd",
    },
}

autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
