// Numbers and diagrams of the page, in words and pictures.
import { Diagram } from "../shared/diagram.js";

const WORDS = { things: "answers", across: "how sure (%)", up: "how often right (%)", came: "right" };
export const percentOf = (share) => `${Math.round(100 * share)} %`;
export const pointsOf = (share) => `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)} points`;

const signed = (share) => `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)}`;
const gapIn = (interval) => (interval ? ` [${signed(interval.low)}, ${signed(interval.high)}]` : "");
const brierIn = (interval) => (interval ? ` [${interval.low.toFixed(3)}, ${interval.high.toFixed(3)}]` : "");

export function drawBinned(host, title, binned) {
  const most = Math.max(...binned.counts, 1);
  new Diagram(host, { title, most, words: WORDS }).show(binned);
}

// Rows of a table: columns are { score, intervals }, all with the same names of rows.
export function rowsOf(columns) {
  const rows = {
    right: ({ score }) => percentOf(score.right),
    sure: ({ score }) => percentOf(score.sure),
    "gap: sure minus right, with 95 % interval": ({ score, intervals }) =>
      pointsOf(score.gap) + gapIn(intervals?.gap),
    "Brier score (0 is best, a guesser has 0.25)": ({ score, intervals }) =>
      score.brier.toFixed(3) + brierIn(intervals?.brier),
  };
  return Object.entries(rows).map(([name, cell]) => [name, ...columns.map((one) => (one ? cell(one) : "–"))]);
}

// A table body: the first cell of each row is its head.
export function fillRows(body, rows) {
  body.replaceChildren(...rows.map(([head, ...cells]) => {
    const row = document.createElement("tr"), first = document.createElement("th");
    first.scope = "row";
    first.textContent = head;
    row.append(first, ...cells.map((words) => {
      const cell = document.createElement("td");
      cell.textContent = words;
      return cell;
    }));
    return row;
  }));
}

// What an interval of a gap says of a person, in a sentence.
export function sentenceOf({ gap }) {
  if (gap.low > 0) return "You were surer than right: over-confident. The whole interval lies above zero.";
  if (gap.high < 0) return "You were less sure than right: under-confident. The whole interval lies below zero.";
  return "The interval holds zero: so few answers do not show that you are too sure, or not sure enough.";
}
