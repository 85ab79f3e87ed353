// The pictures of an audit, from its numbers.
import { Chart } from "../shared/chart.js";
import { Diagram } from "../shared/diagram.js";
import { escaped } from "./html.js";

const RISKS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]; // where the axis of a risk may end
const MOST_DRAWN_GROUPS = 12;
const OF_EVENT = { across: "predicted (%)", up: "how often it came (%)", came: "with the event" };

// rows: the bins that are filled, as in the JSON.
export function drawDiagram(host, rows, bins, title, ofEvent = false) {
  const at = (name) => {
    const found = new Float64Array(bins).fill(name === "samples" ? 0 : NaN);
    for (const row of rows) found[Math.round(row.low * bins)] = row[name];
    return found;
  };
  const counts = at("samples"), accuracy = at("accuracy");
  const hits = counts.map((samples, bin) => (samples ? Math.round(samples * accuracy[bin]) : 0));
  const words = { things: "samples", ...(ofEvent ? OF_EVENT : {}) };
  new Diagram(host, { title, most: Math.max(...counts), words })
    .show({ bins, counts, hits, confidence: at("confidence"), accuracy });
}

// points: [coverage, share wrong], from the surest row on.
export function drawRisk(host, points) {
  const whole = points.at(-1)[1], most = Math.max(...points.map(([, risk]) => risk));
  const top = RISKS.find((end) => end >= most) ?? 1, percent = (share) => `${Number((100 * share).toFixed(1))}`;
  const chart = new Chart({ title: "Risk of the surest part", x: [0, 1], y: [0, top], xTicks: [0, 0.25, 0.5, 0.75, 1],
    yTicks: [0, top / 2, top], labels: ["share answered (%)", "share wrong (%)"], show: percent });
  chart.line([[0, whole], [1, whole]], "diagonal").line(points, "curve");
  const half = points[Math.floor((points.length - 1) / 2)];
  host.innerHTML = chart.svg(`of all samples ${percent(whole)} % are wrong, of the surer half ${percent(half[1])} %.`);
}

// The signed gap of each group with its interval: over-confident to the right of 0.
export function drawGaps(host, groups) {
  if (groups.length > MOST_DRAWN_GROUPS) return;
  const far = groups.flatMap(({ gap, low, high }) => [gap, low ?? gap, high ?? gap]).map(Math.abs);
  const reach = Math.max(0.01, ...far) * 1.1, tick = Number((reach / 1.5).toPrecision(1)), n = groups.length;
  const chart = new Chart({ title: "Confidence less accuracy, 95 %", x: [-reach, reach], y: [n, -0.4],
    xTicks: [-tick, 0, tick], yTicks: [], labels: ["points; over-confident to the right", ""],
    show: (share) => String(Number((100 * share).toPrecision(2))).replace("-", "−") });
  chart.line([[0, -0.4], [0, n]], "diagonal");
  groups.forEach(({ name, gap, low, high }, place) => {
    if (low !== null) chart.line([[low, place + 0.5], [high, place + 0.5]], "interval");
    chart.dot([gap, place + 0.5], gap > 0 ? "over-dot" : "under-spot");
    chart.words(-0.97 * reach, place + 0.15, escaped(name.length > 24 ? `${name.slice(0, 23)}…` : name));
  });
  const told = groups.map(({ name, gap }) => `${escaped(name)} ${(100 * gap).toFixed(1)} points`).join("; ");
  host.innerHTML = chart.svg(`signed gap of each group: ${told}.`);
}
