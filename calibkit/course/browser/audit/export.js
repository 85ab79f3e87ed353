// The numbers as JSON, with the entries of the command's own (calibkit.auditing.page) where they
// are equal. An interval that the command draws at random is null, and named in `left_out`.
import { MEASURES } from "./measuring.js";

const LEVEL = 0.95;
export const DRAWN = ["ece", "ada_ece", "overconfidence_error"];
const LEFT_OUT = [
  "smooth ECE", ...DRAWN.map((name) => `the interval of ${MEASURES[name]}`), "the interval of the difference in ECE",
  "Platt scaling",
];

// found: of audit. drawn: of testOf. version: of calibkit.
export function exported(found, drawn, version) {
  const { before, after, cooling, gain, advice, binary, deferral } = found, fits = !cooling.misfit;
  return clean({
    format: 1, calibkit: version, made_by: "audit in the browser", left_out: LEFT_OUT, name: found.name,
    samples: before.rows.n, clusters: null, weighted: false, class_names: found.names, level: LEVEL, bins: found.bins,
    seed: 0, warnings: found.warnings, measures: estimatesOf(before.estimates), diagram: binsOf(before.wide),
    test: drawn.test, power: drawn.power,
    temperature: { value: cooling.value, interval: fits ? [cooling.low, cooling.high] : null, fitted: cooling.fitted,
      crossed: true, misfit: cooling.misfit || null, verdict: advice.verdict, advice: advice.words,
      line: advice.line || null,
      measures: fits ? estimatesOf(after.estimates) : null, gain: fits ? estimatesOf(gain) : null },
    classes: found.classes, groups: found.groups, coverage: found.coverage, mistakes: found.mistakes,
    binary: binary && eventOut(binary, drawn.event), ...(deferral && { deferral: costsOut(deferral) }), other: null,
  });
}

function eventOut({ measured, cooled, diagram, maps, gain, gap, ece, auc, costs, ...plain }, test) {
  return { ...plain, ...(costs && { costs: costsOut(costs) }),
    gap: oneOf(gap), ece: oneOf(ece), auc: oneOf(auc), test, diagram: binsOf(diagram),
    maps: { "as it is": estimatesOf(maps["as it is"]), temperature: estimatesOf(maps.temperature) },
    gain: { temperature: estimatesOf(gain.temperature) } };
}

function costsOut({ models, ...plain }) {
  const out = ({ cost, difference, ...one }) => ({ ...one, cost: oneOf(cost), difference: difference && oneOf(difference) });
  return { ...plain, models: models.map(out) };
}

const oneOf = ({ value, low, high, known }) => ({ value, interval: known ? [low, high] : null });
const estimatesOf = (found) => Object.fromEntries(Object.entries(found).map(([name, one]) => [name, oneOf(one)]));

// The bins that are filled.
function binsOf({ bins, counts, confidence, accuracy }) {
  return Array.from(counts, (samples, bin) => ({ low: bin / bins, high: (bin + 1) / bins, samples,
    confidence: confidence[bin], accuracy: accuracy[bin] })).filter(({ samples }) => samples > 0);
}

// What JSON has no number for.
function clean(value) {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return Number.isNaN(value) ? null : value > 0 ? "infinity" : "-infinity";
  }
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value, clean);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, clean(part)]));
}
