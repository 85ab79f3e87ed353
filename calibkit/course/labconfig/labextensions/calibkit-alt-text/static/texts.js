// JupyterLab shows images of outputs without the text that their metadata hold. This adds it.
(window._JUPYTERLAB ??= {})["calibkit-alt-text"] = {
  init(shared) {
    this.shared = shared;
  },
  async get() {
    const [rendermime] = Object.values(this.shared["@jupyterlab/rendermime"]);
    const { IRenderMimeRegistry } = (await rendermime.get())();
    return () => ({ id: "calibkit:alt-text", autoStart: true, requires: [IRenderMimeRegistry], activate });
  },
};

function activate(_, registry) {
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
