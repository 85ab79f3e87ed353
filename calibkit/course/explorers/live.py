"""The face with a kernel: an ipywidgets control that brings its own HTML sliders (anywidget).

It needs ipywidgets, so nothing imports it before an explorer is shown. The pictures are with the
browser from the start: a slider answers at once, also while the kernel trains.
"""

from __future__ import annotations

import anywidget
import traitlets

RENDER = """\
export default {
  async render({ model, el }) {
    el.innerHTML = model.get("face");
    const at = model.get("at"); // a second view of one explorer begins where the first one is
    el.querySelectorAll("select, input").forEach((control, i) => { control.value = at[i]; });
    const move = await BIND(el.firstElementChild, model.get("packed"), (at) => {
      model.set("at", at);
      model.save_changes();
    });
    move(at); // a choice decides how far a slider goes
    model.on("change:at", () => move(model.get("at")));
  },
};
"""


def rendering(bind: str) -> str:
    """What anywidget runs: the function of the face that binds an explorer to its content."""
    return RENDER.replace("BIND", bind)


class Live(anywidget.AnyWidget):
    """An explorer in a running notebook.

    at: where each slider stands, counted from 0; may be observed and set.
    _esm: the script, that of the face and `rendering`, under the name that anywidget gives it.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    face = traitlets.Unicode().tag(sync=True)
    packed = traitlets.Unicode().tag(sync=True)
    at = traitlets.List(traitlets.Int()).tag(sync=True)
