// An explorer at work, in JupyterLab and in a page alike: its sliders choose a frame, its button
// plays the last slider as a film.
const PACE = 250; // ms that a frame of a film is shown

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// A page may let pictures grow with it; how large they were drawn is told to its style.
function sized(picture) {
  for (const panel of picture.children) {
    panel.style.setProperty("--natural", `${panel.getAttribute("width")}px`);
  }
}

// A step is read out once: by the slider in somebody's hand, whose value in words ends with the
// readout, or, where the button moved it, by the readout itself.
// root: the explorer's element. at: where the sliders stand. moved: told where they went.
// Returns a function that moves them. Frames are stored with the last slider running fastest.
async function bind(root, packed, moved = () => {}) {
  const { frames, shown } = await unpack(packed);
  const sliders = [...root.querySelectorAll("input[type=range]")];
  const picture = root.querySelector(".picture");
  const readout = root.querySelector(".readout");
  const own = `calibkit-${Math.random().toString(36).slice(2)}-`; // a hatch is found by its name

  const show = () => {
    const place = sliders.reduce((all, s, i) => all * shown[i].length + Number(s.value), 0);
    const [panels, words] = frames[place];
    sliders.forEach((slider, i) => {
      const value = shown[i][slider.value];
      slider.setAttribute("aria-valuetext", `${value}. ${words}`);
      slider.parentElement.querySelector("output").textContent = value;
    });
    picture.innerHTML = panels.join("").replaceAll("calibkit-", own);
    sized(picture);
    picture.setAttribute("aria-label", words);
    readout.textContent = words;
    moved(sliders.map((slider) => Number(slider.value)));
  };

  const button = root.querySelector(".play");
  const stop = button ? film(root, button, sliders.at(-1), show) : () => {};
  for (const slider of sliders) {
    slider.addEventListener("input", () => {
      stop();
      readout.setAttribute("aria-live", "off");
      show();
    });
  }
  root.querySelector(".still").remove();
  show();
  return (at) => {
    if (at.every((place, i) => place === Number(sliders[i].value))) return;
    stop();
    at.forEach((place, i) => { sliders[i].value = place; });
    show();
  };
}

// A film ends with the last frame. Where the reader wants less motion, a press is one frame.
function film(root, button, slider, show) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const readout = root.querySelector(".readout");
  let timer = null;
  const say = () => {
    const word = timer ? "Pause" : calm.matches ? "Next" : "Play";
    button.textContent = word;
    button.setAttribute("aria-label", `${word}: ${slider.getAttribute("aria-label")}`);
    readout.setAttribute("aria-live", timer ? "off" : "polite"); // the last frame is read out
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    say();
  };
  const goTo = (place) => {
    slider.value = place;
    if (slider.value === slider.max) stop();
    show();
  };
  const next = () => (root.isConnected ? goTo(Number(slider.value) + 1) : stop());
  button.addEventListener("click", () => {
    if (timer) return stop();
    readout.setAttribute("aria-live", "polite");
    const ended = slider.value === slider.max;
    if (ended) goTo(0);
    if (!calm.matches) timer = setInterval(next, PACE);
    else if (!ended) next();
    say();
  });
  calm.addEventListener("change", stop);
  button.hidden = false;
  say();
  return stop;
}
