// Scores as logits, or as probabilities whose rows sum to 1. As calibkit.auditing.scores, of what
// `reading` has found to be so.
//
//   scoresOf({ scores, classes, kind }) -> { values, n, classes, logits, event, floor }
// values: (n x classes) numbers; logits: whether they are logits. event: whether column 1 is what
// every row says. floor: what a probability of 0 is taken for where its logarithm is needed.
const LEAST = 2.2250738585072014e-308;

export function scoresOf({ scores, classes, kind }) {
  const logits = kind === "logits", n = scores.length / classes, one = classes === 1;
  const values = one ? withOther(scores, logits) : scores;
  let smallest = Infinity, zero = false;
  for (const value of values) {
    if (value === 0) zero = true;
    else if (value > 0 && value < smallest) smallest = value;
  }
  const floor = !logits && zero ? smallest / 2 : 0;
  return { values, n, classes: one ? 2 : classes, logits, event: kind === "confidence", floor };
}

// Scores of class 1 of two, beside those of the other: probabilities, or logits against 0.
function withOther(scores, logits) {
  const values = new Float64Array(2 * scores.length);
  scores.forEach((score, row) => values.set([logits ? 0 : 1 - score, score], 2 * row));
  return values;
}

// The logits of all rows: of probabilities their logarithms, finite where one is 0.
export function logitsOf({ values, logits, floor }) {
  const least = Math.max(floor, LEAST);
  return logits ? values : values.map((value) => Math.log(Math.max(value, least)));
}
