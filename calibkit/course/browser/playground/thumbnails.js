// Twelve images, with what the network and the exact posterior say of each.
import { CLASSES, PIXELS } from "./digits.js";

const SIDE = 8;

// The largest of ten probabilities, in words such as "3 · 98 %".
export function said(probs, i) {
  let best = 0;
  for (let k = 1; k < CLASSES; k += 1) {
    if (probs[i * CLASSES + k] > probs[i * CLASSES + best]) best = k;
  }
  return { digit: best, sure: Math.round(100 * probs[i * CLASSES + best]) };
}

// items: { image (64), label, note, network, exact }, of which network may be null.
export function showImages(host, items) {
  while (host.children.length > items.length) host.lastChild.remove();
  while (host.children.length < items.length) host.append(card());
  items.forEach((item, i) => fill(host.children[i], item));
}

function card() {
  const item = document.createElement("li");
  item.innerHTML = `<canvas width="${SIDE}" height="${SIDE}" aria-hidden="true"></canvas>
<span class="truth"></span><span class="said"><span class="hidden-words">network: </span><span class="network"></span></span>
<span class="hidden-words">exact posterior: </span><span class="exact"></span>`;
  return item;
}

function fill(item, { image, label, note, network, exact }) {
  paint(item.querySelector("canvas"), image);
  const wrong = network && network.digit !== label;
  item.className = network ? (wrong ? "wrong" : "correct") : "";
  item.querySelector(".truth").textContent = `is a ${label}${note}`;
  item.querySelector(".said").hidden = !network;
  if (network) {
    item.querySelector(".network").textContent = `${wrong ? "✗" : "✓"} ${network.digit} · ${network.sure}\u00a0%`;
  }
  item.querySelector(".exact").textContent = `${exact.digit} · ${exact.sure}\u00a0%`;
}

// Dark strokes on light ground; noise goes beyond black and white and is cut off there.
function paint(canvas, image) {
  const context = canvas.getContext("2d"), pixels = context.createImageData(SIDE, SIDE);
  for (let p = 0; p < PIXELS; p += 1) {
    const grey = Math.round(255 * (1 - Math.min(1, Math.max(0, (image[p] + 0.4) / 1.8))));
    pixels.data.set([grey, grey, grey, 255], 4 * p);
  }
  context.putImageData(pixels, 0, 0);
}
