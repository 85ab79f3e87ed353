// A made-up file, so that a passer-by sees a result at once: a model of three classes that is too
// sure of images of one camera and about right on those of the other; and the head of its report.
import { accuracyOf, confidenceOf, gapOf, reliability, topOf } from "../shared/metrics.js";
import { Diagram } from "../shared/diagram.js";
import { Random } from "../shared/random.js";

const ROWS = 1500, ANIMALS = ["cat", "dog", "owl"];
const CAMERAS = { indoor: 1, outdoor: 2.2 }; // how far its logits are stretched

export const EXAMPLE = "made_up_example.csv";

export function exampleText() {
  const random = new Random(3, "an example"), lines = [`label,${ANIMALS.map((name) => `p_${name}`).join(",")},camera`];
  for (let row = 0; row < ROWS; row += 1) {
    const camera = Object.keys(CAMERAS)[random.integer(2)];
    const logits = ANIMALS.map(() => 1.6 * random.normal());
    const label = drawn(softmaxOf(logits), random), said = softmaxOf(logits.map((z) => z * CAMERAS[camera]));
    lines.push([ANIMALS[label], ...said.map((p) => p.toFixed(6)), camera].join(","));
  }
  return `${lines.join("\n")}\n`;
}

function softmaxOf(logits) {
  const parts = logits.map((z) => Math.exp(z)), sum = parts.reduce((a, b) => a + b, 0);
  return parts.map((part) => part / sum);
}

function drawn(chances, random) {
  let left = random.uniform();
  const found = chances.findIndex((chance) => (left -= chance) < 0);
  return found < 0 ? chances.length - 1 : found;
}

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
