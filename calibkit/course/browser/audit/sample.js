// The head of a report, small and grey, before there is a file: that of the example, from its rows.
import { accuracyOf, confidenceOf, gapOf, reliability, topOf } from "../shared/metrics.js";
import { Diagram } from "../shared/diagram.js";
import { exampleText } from "./example.js";

const whole = (share) => Math.round(100 * share);

// words, picture: elements that are filled.
export function showSample(words, picture) {
  const [head, ...rows] = exampleText().trim().split("\n").map((line) => line.split(","));
  const names = head.filter((name) => name.startsWith("p_")).map((name) => name.slice(2));
  const probs = rows.flatMap((row) => row.slice(1, 1 + names.length).map(Number));
  const top = topOf(probs, rows.map(([label]) => names.indexOf(label)), names.length), binned = reliability(top);
  words.textContent = `On ${rows.length.toLocaleString("en")} samples it is right in ${whole(accuracyOf(top))}\u00a0% `
    + `of cases and says ${whole(confidenceOf(top))}\u00a0%: over-confident by ${whole(gapOf(top))} points.`;
  const most = Math.max(...binned.counts), title = "how sure, how often right?";
  new Diagram(picture, { title, most, words: { things: "samples" } }).show(binned);
}
