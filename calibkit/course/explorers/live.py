"""The face with a kernel: an ipywidgets control that brings its own HTML sliders (anywidget).

It needs ipywidgets, so nothing imports it before an explorer is shown. The pictures are with the
browser from the start: a slider answers at once, also while the kernel trains.
"""

from __future__ import annotations

import anywidget
import traitlets


class Live(anywidget.AnyWidget):
    """An explorer in a running notebook.

    at: where each slider stands, counted from 0; may be observed and set.
    _esm: the script, under the name that anywidget gives it.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    face = traitlets.Unicode().tag(sync=True)
    packed = traitlets.Unicode().tag(sync=True)
    at = traitlets.List(traitlets.Int()).tag(sync=True)
