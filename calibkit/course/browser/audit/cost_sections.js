// What decisions cost, as the page shows it: those of a binary model, and which answers to look up.
import { isClear, minus, percent, table } from "./html.js";

// A cost of 100 rows, with its interval below; a difference is bold where the interval leaves 0 out.
function hundred({ value, interval }, signed = false) {
  const words = (cost) => minus(`${signed && cost >= 0 ? "+" : ""}${(100 * cost).toFixed(1)}`);
  const strong = signed && isClear({ interval }) ? `<strong>${words(value)}</strong>` : words(value);
  return interval ? `${strong}<small>${interval.map(words).join(" to ")}</small>` : strong;
}

// lone: what decides without a model, [words, cost] each.
function costTable(title, head, models, lone) {
  const empty = ["", "", "", ""];
  const rows = models.map(({ model, cost, difference, acted, missed, alarms }) => [model, hundred(cost),
    difference ? hundred(difference, true) : "", ...[acted, missed, alarms].map((share) => percent(share, 2))]);
  return table(title, head, [...rows, ...lone.map(([words, value]) => [words, hundred({ value }), ...empty])]);
}

const shown = (models, misfit) => (misfit ? models.slice(0, 1) : models);
const paired = (what) => `A difference is paired, row by row, and bold where its interval leaves 0 out; an interval stands
only where at least five ${what} decide it.`;

// What the temperature changes in the cost of 100 `what`, in a sentence.
function changed(models, misfit, what) {
  if (misfit) return "No temperature fits, so that none is compared.";
  const { value, interval } = models[1].difference;
  if (!isClear({ interval })) return "Whether a temperature changes the cost, these rows cannot tell.";
  const ends = interval.map((end) => 100 * Math.abs(end)).sort((a, b) => a - b).map((end) => end.toFixed(1));
  return `<strong>After a temperature 100 ${what} cost ${(100 * Math.abs(value)).toFixed(1)} ${value < 0 ? "less" : "more"} `
    + `(${ends.join(" to ")}).</strong>`;
}

export function decisionCosts({ alarm, miss, threshold, models, none, all }, misfit) {
  return `<h3>What miscalibration costs</h3>
<p>A false alarm costs ${alarm}, a miss ${miss}. So of a calibrated probability it is cheapest to act from
${percent(threshold, 2)} on. ${changed(models, misfit, "rows")} ${paired("misses")}</p>`
    + costTable("Cost of decisions", ["", "100 rows cost", "difference", "acts on", "events missed", "false alarms"],
      shown(models, misfit), [["act on all", all], ["act on none", none]]);
}

export function answerCosts({ alarm, miss, threshold, models, none, all }, misfit) {
  return `<h3>Which answers to look up</h3>
<p>Looking an answer up costs ${alarm}, acting on a wrong one ${miss}. So with a calibrated confidence it is cheapest to look
up what is wrong with a probability above ${percent(threshold, 2)}: what has a confidence below
${percent(1 - threshold, 2)}. ${changed(models, misfit, "answers")} ${paired("wrong answers that are acted on")}</p>`
    + costTable("Cost of answers",
      ["", "100 answers cost", "difference", "looked up", "wrong, acted on", "right, looked up"],
      shown(models, misfit), [["look all up", all], ["look none up", none]]);
}
