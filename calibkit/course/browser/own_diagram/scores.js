// What a round of answers is worth. A round: { code, round, answers: { id: { option, confidence } } };
// options are counted as in the list of questions, confidences are fractions from 0.5 to 1.
import { reliability } from "../shared/metrics.js";
import { intervalOf } from "./student_t.js";

export const STEPS = 10; // bins from 0 to 1; of two options one is never less than 0.5 sure

// Confidence and hit of each answer, in the order of the questions.
export function toppedOf(round, questions) {
  const given = questions.map(({ id, right }) => ({ ...round.answers[id], right }));
  return {
    confidence: Float64Array.from(given, ({ confidence }) => confidence),
    correct: Uint8Array.from(given, ({ option, right }) => (option === right ? 1 : 0)),
  };
}

// The answers of several rounds as one.
export function pooledOf(tops) {
  return {
    confidence: Float64Array.from(tops.flatMap(({ confidence }) => [...confidence])),
    correct: Uint8Array.from(tops.flatMap(({ correct }) => [...correct])),
  };
}

export const binnedOf = (top) => reliability(top, STEPS);

const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const offOf = ({ confidence, correct }) => Array.from(confidence, (c, i) => c - correct[i]);

// Gap (confidence minus share right) and Brier score (mean squared distance from right or wrong).
export function scoreOf(top) {
  const off = offOf(top), squares = off.map((value) => value * value);
  return {
    right: meanOf([...top.correct]), sure: meanOf([...top.confidence]), gap: meanOf(off), brier: meanOf(squares),
  };
}

// Of one person: intervals over the answers.
export function intervalsOfAnswers(top) {
  const off = offOf(top);
  return { gap: intervalOf(off), brier: intervalOf(off.map((value) => value * value)) };
}

// Of a class: intervals over the students, as the answers of one student go together.
export function intervalsOfStudents(scores) {
  return Object.fromEntries(["gap", "brier"].map((name) => [name, intervalOf(scores.map((one) => one[name]))]));
}
