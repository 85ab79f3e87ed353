// What a host such as JupyterLab calls: anywidget's render({ model, el }).
// bind: the function of its face that binds an explorer to its content.
function rendering(bind) {
  return async ({ model, el }) => {
    el.innerHTML = model.get("face");
    const at = model.get("at"); // a second view of one explorer begins where the first one is
    el.querySelectorAll("select, input").forEach((control, i) => { control.value = at[i]; });
    const move = await bind(el.firstElementChild, model.get("packed"), (at) => {
      model.set("at", at);
      model.save_changes();
    });
    move(at); // a choice decides how far a slider goes
    model.on("change:at", () => move(model.get("at")));
  };
}
