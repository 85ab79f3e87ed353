// What the page says in sentences.
import { signOf } from "./judged.js";

export const SIGNS = { over: "too sure", even: "about right", under: "not sure enough" };
const whole = (share) => Math.round(100 * share);

// The sentence above the pictures. shown: a judged set of new images.
export function verdict({ confidence, accuracy }) {
  const said = whole(confidence), right = whole(accuracy), off = Math.abs(said - right);
  const sign = signOf(confidence - accuracy);
  if (sign === "even") return `Calibrated: it is as sure as it should be.`;
  return sign === "over"
    ? `Over-confident: it promises ${off} more than it keeps.`
    : `Under-confident: it keeps ${off} more than it promises.`;
}

// What a screen reader is told at the end of a training, or when it is paused.
export function told(epoch, { confidence, accuracy, ece }, exact) {
  return `After epoch ${epoch}: of 100 new digits it says ${whole(confidence)} are right, `
    + `${whole(accuracy)} are. ${verdict({ confidence, accuracy })} ECE ${whole(ece)} %. `
    + `The exact posterior says ${whole(exact.confidence)}, and ${whole(exact.accuracy)} are.`;
}

// Whether a guess was right, and the score of the page.
export function scored(guess, gap, { right, guesses }) {
  const sign = signOf(gap), well = guess === sign ? "Right." : `It is ${SIGNS[sign]}.`;
  return `You guessed: ${SIGNS[guess]}. ${well} ${right} of ${guesses} guesses right so far.`;
}

const points = (gap) => `${gap < 0 ? "−" : "+"}${Math.abs(100 * gap).toFixed(1)} points`;

// The gap of the kept run beside that of now; both are judged sets of new images.
export const gaps = (kept, now) => `Gap, sure minus right: ${points(kept.gap)} kept, ${points(now.gap)} now.`;

// The numbers of a run for the table that compares two.
export function numbers({ train, test }, T) {
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  return [
    ["right on new digits", percent(test.accuracy)],
    ["how sure, on average", percent(test.confidence)],
    ["gap: sure minus right", points(test.gap)],
    ["ECE", percent(test.ece)],
    ["NLL", `${test.nll.toFixed(3)} nats`],
    ["right on its training labels", percent(train.accuracy)],
    ["temperature", T.toFixed(2)],
  ];
}
