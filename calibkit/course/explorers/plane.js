// All networks of the course in the plane: the list chooses a family, the slider, a click or a tap
// one of its networks, whose diagram stands beside. The pictures come drawn from Python; here the
// dots of a family, the ring and the bars are put in their places.
const REACH = 22; // px on the screen that a click may miss a dot by
const Z = 1.959964; // of a 95 % interval

// content: topics (label, alt, drawn, and per network x, y, said, bins) and scales of the diagram.
async function bindPlane(root, packed, moved = () => {}) {
  const { topics, scales } = await unpack(packed);
  const choice = root.querySelector("select"), slider = root.querySelector("input[type=range]");
  const picture = root.querySelector(".picture"), readout = root.querySelector(".readout");
  const own = `calibkit-${Math.random().toString(36).slice(2)}-`; // a hatch is found by its name
  picture.innerHTML = [...picture.querySelectorAll("img")].map(unpainted).join("")
    .replaceAll("calibkit-", own);
  sized(picture);
  const plane = picture.querySelector("svg"), part = (name) => picture.querySelector(`.${name}`);
  plane.classList.add("clicked");
  let drawn = -1;

  const show = () => {
    const at = Number(choice.value), topic = topics[at];
    if (drawn !== at) {
      slider.max = topic.networks.length - 1;
      part("chosen").innerHTML = topic.drawn;
      drawn = at;
    }
    const [x, y, said, right, sure, bins] = topic.networks[slider.value];
    const value = `${Number(slider.value) + 1} of ${topic.networks.length}`;
    slider.setAttribute("aria-valuetext", `${value}. ${said}`);
    slider.parentElement.querySelector("output").textContent = value;
    part("legs").setAttribute("d", legs(x / 10, y / 10, scales.zero));
    part("ring").setAttribute("transform", `translate(${x / 10} ${y / 10})`);
    part("sure").textContent = `confidence ${percent(sure)}`;
    part("right").textContent = `accuracy ${percent(right)}`;
    part("none").setAttribute("visibility", bins ? "hidden" : "visible");
    const bars = barsOf(bins ?? [], scales);
    for (const name of Object.keys(bars)) part(name).setAttribute("d", bars[name]);
    picture.setAttribute("aria-label", `${topic.alt} ${said}`);
    readout.textContent = said;
    // for a page that shows the two shares, in thousandths, beside it
    root.dispatchEvent(new CustomEvent("chosen", { bubbles: true, detail: { sure, right } }));
    moved([at, Number(slider.value)]);
  };
  const goTo = (at, place) => {
    choice.value = at;
    slider.max = topics[at].networks.length - 1;
    slider.value = place;
    show();
  };

  choice.addEventListener("change", () => goTo(Number(choice.value), topics[choice.value].first));
  slider.addEventListener("input", show);
  const below = (event) => { // the network that a click there would choose
    const box = plane.getBoundingClientRect(), unit = box.width / plane.viewBox.baseVal.width;
    const x = 10 * (event.clientX - box.left) / unit, y = 10 * (event.clientY - box.top) / unit;
    return nearest(topics, drawn, x, y, 10 * REACH / unit);
  };
  const tip = document.createElement("span");
  tip.className = "tip";
  tip.setAttribute("aria-hidden", "true"); // the slider says the same
  picture.append(tip);
  plane.addEventListener("pointermove", (event) => {
    const found = event.pointerType === "mouse" && below(event);
    const at = picture.getBoundingClientRect(), left = event.clientX - at.left;
    tip.textContent = found ? topics[found[0]].networks[found[1]][2].split(". Accuracy")[0] : "";
    tip.style.top = `${event.clientY - at.top + 18}px`;
    tip.style.left = `${Math.max(0, Math.min(left, at.width - tip.offsetWidth))}px`;
  });
  plane.addEventListener("pointerleave", () => { tip.textContent = ""; });
  plane.addEventListener("click", (event) => {
    const found = below(event);
    if (!found) return;
    readout.setAttribute("aria-live", "polite"); // what the slider does, it says itself
    goTo(...found);
    slider.focus({ preventScroll: true }); // the arrow keys go on from here
  });
  slider.addEventListener("keydown", () => readout.setAttribute("aria-live", "off"));
  root.querySelector(".still").remove();
  show();
  return ([at, place]) => {
    if (at !== drawn || place !== Number(slider.value)) goTo(at, place);
  };
}

// The SVG of an image that holds it.
function unpainted(image) {
  const bytes = Uint8Array.from(atob(image.src.split(",")[1]), (c) => c.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

// A network of the family that is shown, where one is in reach; else the nearest of all.
function nearest(topics, here, x, y, reach) {
  const best = { [true]: [reach, null], [false]: [reach / 2, null] };
  topics.forEach((topic, t) => topic.networks.forEach((one, i) => {
    const off = Math.hypot(one[0] - x, one[1] - y), kind = best[t === here];
    if (off < kind[0]) kind.splice(0, 2, off, [t, i]);
  }));
  return best[true][1] ?? best[false][1];
}

const percent = (thousandths) => `${(thousandths / 10).toFixed(1)}\u00a0%`;

// From the dot across to what is lost, and up to what is claimed.
const legs = (x, y, [left, bottom]) => `M${left},${y}H${x}V${bottom}`;

// bins: of each one samples, right ones in tenths, and mean confidence in thousandths.
// The paths are those of calibkit.pictures.svg_diagram.
function barsOf(bins, { left, top, width, height, strip, most }) {
  const paths = { accuracy: "", over: "", under: "", faded: "", interval: "", count: "" };
  const across = (v) => (left + v * width).toFixed(1), up = (v) => (top + (1 - v) * height).toFixed(1);
  const box = (x0, x1, y0, y1) => `M${across(x0)},${y0}V${y1}H${across(x1)}V${y0}z`;
  const [floor, tall] = strip, lowest = Math.log(0.5);
  const log = (n) => (floor - tall * (Math.log(n) - lowest) / (Math.log(most) - lowest)).toFixed(1);
  const few = Math.min(10, bins.reduce((sum, [n = 0]) => sum + n, 0) / 100);
  bins.forEach(([n, tenths, thousandths], i) => {
    if (!n) return;
    const x0 = i / bins.length, x1 = (i + 1) / bins.length, p = tenths / 10 / n, c = thousandths / 1000;
    const scale = 1 + Z * Z / n, middle = (p + Z * Z / (2 * n)) / scale;
    const half = Z * Math.sqrt(p * (1 - p) / n + (Z / (2 * n)) ** 2) / scale;
    paths.accuracy += `M${across(x0)},${up(p)}H${across(x1)}`;
    paths[c > p ? "over" : "under"] += box(x0, x1, up(p), up(c));
    if (n < few) paths.faded += box(x0, x1, up(p), up(c));
    paths.interval += `M${across((x0 + x1) / 2)},${up(middle - half)}V${up(middle + half)}`;
    paths.count += box(x0, x1, log(0.5), log(n));
  });
  return paths;
}
