// JupyterLab shows images of outputs without the text that their metadata hold, and breaks printed
// lines inside of words. This adds the text, and breaks them between words.
(window._JUPYTERLAB ??= {})["calibkit-outputs"] = {
  init(shared) {
    this.shared = shared;
  },
  async get() {
    const [rendermime] = Object.values(this.shared["@jupyterlab/rendermime"]);
    const { IRenderMimeRegistry } = (await rendermime.get())();
    return () => ({ id: "calibkit:outputs", autoStart: true, requires: [IRenderMimeRegistry], activate });
  },
};

function activate(_, registry) {
  const style = document.createElement("style");
  style.textContent =
    ".jp-OutputArea .jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }";
  document.head.append(style);
  const images = registry.getFactory("image/png");
  const createRenderer = (options) => {
    const shown = images.createRenderer(options);
    const render = shown.renderModel.bind(shown);
    shown.renderModel = async (model) => {
      await render(model);
      shown.node.querySelector("img").alt = model.metadata[options.mimeType]?.alt ?? "";
    };
    return shown;
  };
  registry.addFactory({ ...images, createRenderer }, registry.getRank("image/png"));
}
