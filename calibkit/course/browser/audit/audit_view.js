// Puts the numbers of an audit on the page.
import { Chart } from "../shared/chart.js";
import { classSection, coverageSection, groupSection, methodSection, mistakeSection } from "./tables.js";
import { Diagram } from "../shared/diagram.js";
import { escaped } from "./html.js";
import { eventSection, headline, measuresSection, temperatureSection, testSection, warnings } from "./sections.js";

const at = (id) => document.getElementById(id);

// shown: of the worker; ofHits: whether rows are right or not, without classes. command: makes the whole page.
export function showAudit({ numbers, told, ofHits, means, cooled, risk }, command) {
  const { binary, groups, bins, temperature } = numbers, misfit = Boolean(temperature.misfit);
  at("title").textContent = `Calibration audit of ${numbers.name}`;
  at("told").textContent = `${told.slice(0, 1).toUpperCase()}${told.slice(1)}.`;
  at("lead").innerHTML = headline(numbers, ofHits) + warnings(numbers);
  drawDiagram(at("picture-before"), numbers.diagram, bins, "as it is");
  at("picture-after").innerHTML = "";
  if (cooled) drawDiagram(at("picture-after"), cooled, bins, `after temperature ${temperature.value.toFixed(2)}`);
  at("test").innerHTML = '<p class="note">Drawing 1,000 samples of a calibrated model …</p>';
  at("rest").innerHTML = [
    binary ? `<section id="event">${eventSection(numbers, misfit)}</section>` : "",
    measuresSection(numbers, ofHits), temperatureSection(numbers, means, ofHits),
    ofHits ? "" : classSection(numbers),
    groups ? groupSection(numbers) + '<div class="picture wide" id="picture-gaps"></div>' : "",
    coverageSection(numbers), mistakeSection(numbers), methodSection(numbers, command),
  ].join("\n");
  drawRisk(at("picture-risk"), risk);
  if (groups) drawGaps(at("picture-gaps"), groups);
  if (binary) drawEvent(numbers);
  at("result").hidden = false;
}

function drawEvent({ binary, bins }) {
  drawDiagram(at("picture-event"), binary.diagram, bins, `P(${binary.event})`, true);
}

// The same with the numbers of the test.
export function showTest(numbers) {
  at("test").innerHTML = testSection(numbers);
  if (!numbers.binary) return;
  at("event").innerHTML = eventSection(numbers, Boolean(numbers.temperature.misfit));
  drawEvent(numbers);
}

// What a screen reader is told of it.
export function spoken({ name, samples, measures: { accuracy, confidence, ece } }) {
  const percent = ({ value }) => `${(100 * value).toFixed(1)} %`;
  return `Audit of ${name}: ${samples} samples, right in ${percent(accuracy)}, says ${percent(confidence)}, `
    + `ECE ${percent(ece)}.`;
}

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

// The lists of columns, and of the labels of one, with what is chosen.
const LISTS = { label: "as found", scores: null, positive: "as found", groups: "none" }; // and what else they offer

export function fillLists(fields, { columns, values, taken }, chosen) {
  for (const [name, other] of Object.entries(LISTS)) {
    const names = name === "positive" ? values[chosen.label || taken.label] ?? [] : columns;
    const found = name === "label" && taken.label ? `${other}: ${taken.label}` : other;
    const first = other === null ? [] : [new Option(found, "")];
    fields[name].replaceChildren(...first, ...names.map((one) => new Option(one, one)));
    const on = name === "scores" ? (chosen.scores ?? "").split(",") : [chosen[name] ?? ""];
    for (const option of fields[name].options) option.selected = on.includes(option.value);
  }
}
