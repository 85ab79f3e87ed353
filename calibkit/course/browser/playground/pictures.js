// The pictures beside the diagrams: over the epochs, the histogram, and the course's plane.
import { Chart } from "../shared/chart.js";

const percent = (share) => `${Math.round(100 * share)}`.replace("-", "−");
const signed = (share) => `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)}`;
const last = (rows) => rows[rows.length - 1];
const steps = (most) => [0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * most));

// rows: those of judged.rowOf, one an epoch. kept: rows of the kept run, or null.
export function overEpochs(rows, kept, epochs) {
  const end = Math.max(epochs, kept ? last(kept).epoch : 0);
  const chart = new Chart({ title: "New digits, epoch by epoch", x: [0, end], y: [0, 1],
    xTicks: end < 4 ? [0, end] : steps(end), yTicks: [0, 0.25, 0.5, 0.75, 1], labels: ["epochs", "%"],
    show: (tick, axis) => (axis === "y" ? percent(tick) : `${tick}`) });
  const points = (of, name) => of.map((row) => [row.epoch, row[name]]);
  if (kept) chart.line(points(kept, "accuracy"), "old right").line(points(kept, "confidence"), "old sure");
  chart.line(points(rows, "accuracy"), "right").line(points(rows, "confidence"), "sure");
  const { epoch, accuracy, confidence } = last(rows);
  return chart.svg(`after epoch ${epoch} confidence ${percent(confidence)} %, accuracy ${percent(accuracy)} %.`);
}

// unavoidable: the NLL of the exact posterior.
export function nllOverEpochs(rows, kept, epochs, unavoidable) {
  const values = [...rows, ...(kept ?? [])].map((row) => row.nll);
  const top = Math.ceil(Math.max(1, unavoidable, ...values) * 2) / 2;
  const end = Math.max(epochs, kept ? last(kept).epoch : 0);
  const chart = new Chart({ title: "What it costs (NLL)", x: [0, end], y: [0, top],
    xTicks: end < 4 ? [0, end] : steps(end), yTicks: [0, top], labels: ["epochs", "nats an image"] });
  if (kept) chart.line(kept.map((row) => [row.epoch, row.nll]), "old right");
  chart.box(0, end, 0, unavoidable, "unavoidable").line(rows.map((row) => [row.epoch, row.nll]), "right");
  chart.line(rows.map((row) => [row.epoch, Math.min(row.trainNll, top)]), "learned");
  return chart.svg(`${last(rows).nll.toFixed(2)} nats on new images, of which ${unavoidable.toFixed(2)} are unavoidable.`);
}

// How many new images it is how sure of: right ones below, wrong ones above.
export function histogram({ binned }) {
  const { bins, counts, hits, n } = binned, most = Math.max(...counts) / n;
  const top = Math.max(0.2, Math.ceil(most * 5) / 5);
  const chart = new Chart({ title: "How sure it is of new digits", x: [0, 1], y: [0, top],
    xTicks: [0, 0.25, 0.5, 0.75, 1], yTicks: [0, top / 2, top], labels: ["how sure it is (%)", "% of the images"],
    show: percent });
  counts.forEach((count, b) => {
    if (!count) return;
    chart.box(b / bins, (b + 1) / bins, 0, hits[b] / n, "bar-right");
    if (count > hits[b]) chart.box(b / bins, (b + 1) / bins, hits[b] / n, count / n, "bar-wrong");
  });
  return chart.svg(`${percent(counts[bins - 1] / n)} % of the images lie in the last bin.`);
}

// The path of the training: accuracy lost on new data, and how far the confidence lies above what is left.
export function plane(rows, kept) {
  const chart = new Chart({ title: "Accuracy lost against over-confidence", x: [-0.1, 0.8], y: [-0.5, 0.8],
    xTicks: [0, 0.25, 0.5, 0.75], yTicks: [-0.5, -0.25, 0, 0.25, 0.5, 0.75],
    labels: ["accuracy lost on new data (points)", "over-confidence"], show: percent });
  chart.line([[-0.1, 0], [0.8, 0]], "diagonal").line([[0, 0], [0.8, 0.8]], "diagonal");
  chart.words(0.8, 0.03, "as sure as right", "small", "end").words(0.62, 0.68, "as sure as in training", "small", "end");
  const path = (of) => of.map(({ lost, claimed }) => [lost, claimed]);
  if (kept) chart.line(path(kept), "old right").dot(path([last(kept)])[0], "old-dot");
  chart.line(path(rows), "way").dot(path([last(rows)])[0], "here");
  const { lost, claimed } = last(rows);
  return chart.svg(`${signed(lost)} points of accuracy lost, ${signed(claimed)} points of over-confidence.`);
}
