// One file of predictions: what its rows hold, and what can be measured of them.
import { accuracyOf, confidenceOf, eceOf, gapOf, reliability } from "../shared/metrics.js";
import { Random } from "../shared/random.js";

const DRAWS = 1000; // of calibrated models with these confidences

export class File {
  // labels: a digit a row. packed: predicted, confidence, duplicates, as six_files.py writes them.
  constructor(labels, packed) {
    const sure = packed.confidence.match(/../g).map((two) => parseInt(two, 36) / 1000);
    this.rows = sure.map((confidence, i) => ({
      confidence,
      label: Number(labels[i]),
      predicted: Number(packed.predicted[i]),
      correct: Number(labels[i] === packed.predicted[i]),
      scanner: i < sure.length / 2 ? "new" : "old",
    }));
    this.duplicates = packed.duplicates;
  }

  // Accuracy, confidence, their difference and the diagram of the rows that `holds` keeps.
  of(holds = () => true) {
    const rows = this.rows.filter(holds);
    const top = { confidence: rows.map((row) => row.confidence), correct: rows.map((row) => row.correct) };
    const binned = reliability(top, 15), measures = { right: accuracyOf(top), says: confidenceOf(top), gap: gapOf(top) };
    return { rows, top, binned, ...measures, ece: eceOf(binned) };
  }

  // The ECE, that of a calibrated model with these confidences on average, and how often its is as large.
  luck() {
    const { top, ece } = this.of(), random = new Random(0, "luck");
    let sum = 0, above = 0;
    for (let draw = 0; draw < DRAWS; draw += 1) {
      const correct = top.confidence.map((confidence) => Number(random.uniform() < confidence));
      const drawn = eceOf(reliability({ confidence: top.confidence, correct }, 15));
      sum += drawn;
      above += drawn >= ece;
    }
    return { ece, expected: sum / DRAWS, p: (1 + above) / (1 + DRAWS) };
  }

  // Of each digit: how often it is predicted, how sure and how often right then, which share of its
  // images is found, and how many standard errors its hits lie from its confidences.
  digits() {
    return Array.from({ length: 10 }, (_, digit) => {
      const rows = this.rows.filter((row) => row.predicted === digit);
      const images = this.rows.filter((row) => row.label === digit);
      return { digit, ...summed(rows), found: images.filter((row) => row.correct).length / images.length };
    });
  }
}

// n, mean confidence, accuracy and z of rows: the sum of confidence - hit over its standard deviation.
export function summed(rows) {
  const n = rows.length, sum = (value) => rows.reduce((total, row) => total + value(row), 0);
  const off = sum((row) => row.confidence - row.correct);
  const deviation = Math.sqrt(sum((row) => row.confidence * (1 - row.confidence)));
  return { n, says: sum((row) => row.confidence) / n, right: sum((row) => row.correct) / n, z: off / deviation };
}
