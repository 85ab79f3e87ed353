// The reliability diagram, as calibkit.pictures.svg_diagram draws it.
//
//   const picture = new Diagram(host, { title, most, picked, words });
//   picture.show(reliability, chosen);   // as often as wanted, less than 1 ms
// host: an element that is emptied. most: samples that the strip of counts has room for.
// picked(bin): called when a bin is clicked; without it nothing can be clicked. chosen: a bin that
// is marked, or null. Colours come from shared/theme.css by the names of the classes.
import { wilson } from "./metrics.js";

const LEFT = 50, TOP = 30, SIDE = 264, STRIP = 48, GAP = 24, WIDTH = 330;
const FLOOR = TOP + SIDE + GAP + STRIP, HEIGHT = FLOOR + 44;
const TICKS = [0, 0.25, 0.5, 0.75, 1];
const LOWEST = Math.log(0.5); // of the counts: a bin of one sample is seen
const WORDS = { things: "images", across: "how sure it is (%)", up: "how often right (%)", came: "right" };
let drawn = 0; // diagrams of the page, as each needs hatches of its own name

const across = (share) => (LEFT + share * SIDE).toFixed(1);
const up = (share) => (TOP + (1 - share) * SIDE).toFixed(1);
const box = (x0, x1, y0, y1) => `M${across(x0)},${y0}V${y1}H${across(x1)}V${y0}z`;

export class Diagram {
  constructor(host, { title, most, picked = null, words = {} }) {
    drawn += 1;
    this.words = { ...WORDS, ...words };
    this.most = 10 ** String(Math.floor(most)).length;
    host.innerHTML = skeleton(`hatch-${drawn}`, this.most, this.words);
    this.svg = host.querySelector("svg");
    this.title = title;
    this.svg.querySelector(".title").textContent = title;
    this.svg.setAttribute("aria-label", title);
    if (!picked) return;
    this.svg.classList.add("clickable");
    this.svg.addEventListener("click", (event) => {
      const area = this.svg.getBoundingClientRect();
      const x = ((event.clientX - area.left) * WIDTH) / area.width;
      const bin = Math.floor(((x - LEFT) / SIDE) * this.bins);
      if (bin >= 0 && bin < this.bins) picked(bin);
    });
  }

  show(binned, chosen = null) {
    this.bins = binned.bins;
    const paths = pathsOf(binned, this.most);
    for (const [name, d] of Object.entries(paths)) {
      this.svg.querySelector(`.${name}`).setAttribute("d", d);
    }
    const mark = chosen === null ? "" : box(chosen / this.bins, (chosen + 1) / this.bins, TOP, FLOOR);
    this.svg.querySelector(".chosen").setAttribute("d", mark);
    this.svg.setAttribute("aria-label", `${this.title}: ${describe(binned, this.words)}`);
  }
}

// The d of each path: a line at the accuracy, hatched or dotted from there to the confidence.
export function pathsOf({ bins, counts, hits, confidence, accuracy }, most) {
  const paths = { accuracy: "", over: "", under: "", interval: "", count: "" };
  const height = (n) => (FLOOR - (STRIP * (Math.log(n) - LOWEST)) / (Math.log(most) - LOWEST)).toFixed(1);
  for (let b = 0; b < bins; b += 1) {
    if (!counts[b]) continue; // an empty bin has nothing to say
    const x0 = b / bins, x1 = (b + 1) / bins, [low, high] = wilson(hits[b], counts[b]);
    paths.accuracy += `M${across(x0)},${up(accuracy[b])}H${across(x1)}`;
    const side = confidence[b] > accuracy[b] ? "over" : "under";
    paths[side] += box(x0, x1, up(accuracy[b]), up(confidence[b]));
    paths.interval += `M${across((x0 + x1) / 2)},${up(low)}V${up(high)}`;
    paths.count += box(x0, x1, FLOOR, height(counts[b]));
  }
  return paths;
}

// In words, for those who do not see it.
function describe({ bins, counts, confidence, accuracy }, { things, came }) {
  const percent = (share) => Math.round(100 * share);
  const told = Array.from(counts, (count, b) => count
    ? `${count} ${things} with mean confidence ${percent(confidence[b])} %, ${percent(accuracy[b])} % ${came}`
    : "").filter(Boolean);
  return `${told.length} of ${bins} bins hold ${things}. ${told.join("; ")}.`;
}

function skeleton(name, most, axes) {
  const words = (x, y, text, more = "") => `<text x="${x}" y="${y}" ${more}>${text}</text>`;
  const middle = LEFT + SIDE / 2, percent = (share) => `${100 * share}`;
  const below = TICKS.map((tick) => words(across(tick), FLOOR + 18, percent(tick), 'text-anchor="middle"'));
  const beside = TICKS.map((tick) => words(LEFT - 6, Number(up(tick)) + 5, percent(tick), 'text-anchor="end"'));
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" class="diagram" role="img">
<defs><pattern id="${name}-over" width="6" height="6" patternUnits="userSpaceOnUse"
  patternTransform="rotate(45)"><rect width="6" height="6" class="over-ground"/><path d="M0,0V6" class="over-line"/>
</pattern><pattern id="${name}-under" width="6" height="6" patternUnits="userSpaceOnUse">
  <rect width="6" height="6" class="under-ground"/><circle cx="3" cy="3" r="1.3" class="under-dot"/></pattern></defs>
${words(WIDTH / 2, 19, "", 'class="title" text-anchor="middle"')}
<path class="over" fill="url(#${name}-over)"/>
<path class="under" fill="url(#${name}-under)"/><path class="interval"/>
<path class="diagonal" d="M${across(0)},${up(0)}L${across(1)},${up(1)}"/><path class="accuracy"/>
<path class="count"/>
<path class="frame" d="M${LEFT},${TOP}V${up(0)}H${across(1)}M${LEFT},${FLOOR - STRIP}V${FLOOR}H${across(1)}"/>
<path class="chosen"/>${below.join("")}${beside.join("")}
${words(LEFT + 4, FLOOR - STRIP - 6, `${axes.things} (log), up to ${most.toLocaleString("en")}`)}
${words(middle, FLOOR + 37, axes.across, 'text-anchor="middle"')}
${words(0, 0, axes.up, `text-anchor="middle" transform="translate(13 ${TOP + SIDE / 2}) rotate(-90)"`)}
</svg>`;
}
