// What the pictures show of a run: every number comes from logits and labels, here.
import {
  accuracyOf, confidenceOf, eceOf, gapOf, nllOf, reliability, softmaxRows, topOf,
} from "../shared/metrics.js";
import { fitTemperature } from "../shared/temperature.js";
import { CLASSES } from "./digits.js";

// Probabilities against labels: each measure, and what stands in which bin.
export function judge(probs, labels) {
  const top = topOf(probs, labels, CLASSES), binned = reliability(top);
  return {
    probs, labels, top, binned,
    accuracy: accuracyOf(top), confidence: confidenceOf(top), gap: gapOf(top), ece: eceOf(binned),
    nll: nllOf(probs, labels, CLASSES),
  };
}

export const judgeLogits = (logits, labels, T) => judge(softmaxRows(logits, CLASSES, T), labels);

// The temperature that the settings ask for.
export function temperatureOf(settings, { held }, heldLabels) {
  if (settings.temperature === "hand") return settings.T;
  if (settings.temperature === "none") return 1;
  return fitTemperature(held, heldLabels, CLASSES).temperature;
}

// One epoch's row of the curves and its place in the plane (calibkit.metrics.plane): across, the
// accuracy lost from the training labels to new labels of the same kind, upwards the confidence
// above that accuracy. share: of the training labels that were drawn anew.
export function rowOf(epoch, train, test, share) {
  const alike = (1 - share) * test.accuracy + share / CLASSES;
  return {
    epoch, train: train.accuracy, accuracy: test.accuracy, confidence: test.confidence,
    nll: test.nll, trainNll: train.nll,
    lost: train.accuracy - alike, claimed: test.confidence - alike,
  };
}

export const LITTLE = 0.02; // a gap that one need not speak of

// "over", "under" or "even".
export function signOf(gap) {
  if (Math.abs(gap) < LITTLE) return "even";
  return gap > 0 ? "over" : "under";
}
