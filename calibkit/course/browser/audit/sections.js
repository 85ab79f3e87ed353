// The first sections of the page, from the numbers as JSON: what it says, whether to trust it,
// the test, the temperature. As calibkit.auditing.page.
import { decisionCosts } from "./cost_sections.js";
import { cell, compared, count, ends, escaped, isClear, number, pValue, percent, table } from "./html.js";

const NAMED = 8; // groups in the headline

function tendency({ value, interval }) {
  if (!isClear({ interval })) return "neither over- nor under-confident on average, as far as these samples can tell";
  const [low, high] = interval.map(Math.abs).sort((a, b) => a - b), points = (share) => (100 * share).toFixed(1);
  return `${value > 0 ? "over" : "under"}-confident by ${points(Math.abs(value))} points on average `
    + `(${points(low)} to ${points(high)})`;
}

// ofHits: whether there are no classes, but whether each row is right.
export function headline({ samples, class_names, measures, binary, groups }, ofHits) {
  const { accuracy, confidence, gap } = measures, off = (groups ?? []).filter(({ flag }) => flag === "off");
  const classes = ofHits ? "" : ` of ${count(class_names.length)} classes`;
  let text = `On ${count(samples)} samples${classes} it is right in `
    + `${percent(accuracy.value)} of cases and says ${percent(confidence.value)}: ${tendency(gap)}.`;
  if (binary) {
    text += ` Always <em>${escaped(binary.usual)}</em> is right on ${percent(binary.usual_accuracy, 2)}; this model on `
      + `${percent(accuracy.value, 2)}.`;
  }
  if (off.length) {
    const named = off.slice(0, NAMED).map(({ name }) => escaped(name)).join(", ");
    text += ` <strong>Groups off by more than luck: ${named}${off.length > NAMED ? " …" : ""}.</strong>`;
  }
  return `<p class="lead">${text}</p>`;
}

export function warnings({ warnings: said, groups, classes }) {
  if (said.length) {
    const points = said.map((text) => `<li>${escaped(text.slice(0, 1).toUpperCase() + text.slice(1))}.</li>`).join("");
    return `<div class="warn"><p><strong>Before you trust the numbers</strong></p><ul>${points}</ul></div>`;
  }
  const fine = ![...classes, ...(groups ?? [])].some(({ flag }) => flag.includes("off"));
  const more = groups && fine ? ", and no group is off by more than luck explains" : "";
  return `<p class="${fine ? "fine" : ""}">Nothing odd was found in the data${more}.</p>`;
}

const points = (size) => (size === 0.01 ? "1 point" : `${Number((100 * size).toFixed(2))} points`);

export function testSection({ test, power }) {
  if (!test) return "<p>More than 200,000 rows: the test is left to the command.</p>";
  const seen = power.find(({ found }) => found >= 0.8);
  const verdict = test.p_value < 0.05 ? "Luck alone hardly explains this: the model is not calibrated."
    : "Luck alone could explain this: the test finds no error of calibration.";
  const reach = seen
    ? `An over-confidence of ${points(seen.overconfidence)} would be found in at least 80 % of such test sets.`
    : "Not even 10 points of over-confidence would be found in 80 % of such test sets: this test set is too small "
      + "to say much.";
  const z = typeof test.z === "number" ? test.z.toFixed(2).replace("-", "−") : "∞";
  return `<p>The ECE is ${percent(test.error, 2)}. A perfectly calibrated model with the same confidences would show
${percent(test.expected, 2)} on so many samples by luck alone (${pValue(test.p_value)}; Spiegelhalter's z = ${z},
${pValue(test.p_value_z)}). <strong>${verdict}</strong></p><p>${reach}</p>`
    + table("Power: what the test at 5 % would find", ["over-confident by", "found in"],
      power.map(({ overconfidence, found }) => [points(overconfidence), percent(found, 0)]));
}

export function measuresSection({ measures, temperature, class_names: classes }, ofHits) {
  const fits = !temperature.misfit, what = ofHits ? "right and wrong, twice the mean of (confidence − hit)²"
    : "both classes, twice the mean of (p − y)²";
  return `<h2>Every measure with its interval</h2>
<p>Below a value stands its 95 % interval; differences are paired, sample by sample, and bold where the interval leaves
0 out. Measures marked * have an interval that the command draws at random; this page leaves it out. Smooth ECE and MCE
have none that covers as often as it says.</p>`
    + table("Measures", fits ? ["measure", "as it is", "with temperature", "difference"] : ["measure", "as it is"],
      compared(measures, fits ? temperature.measures : null, temperature.gain))
    + `<p class="note">Signed gap: mean confidence less accuracy. Adaptive: bins of equal counts. Debiased: the root of a
mean square, to be compared with itself alone. Smooth: without bins. MCE: the worst bin. AURC: the share of wrong answers,
in the mean over all coverages.${classes.length === 2 ? ` Brier score: summed over ${what}.` : ""}</p>`;
}

// means: what the temperature says of the model; ofHits: whether the scores are confidences in answers.
export function temperatureSection({ temperature }, means, ofHits) {
  const { value, interval, fitted, gain, misfit, advice, line } = temperature, head = "<h2>What one temperature buys</h2>";
  if (misfit) return `${head}<p><strong>${escaped(advice)}.</strong></p>`;
  const change = (name, words) => `${words} ${number(name, gain[name].value, true)}${ends(name, gain[name], true)}`;
  const changes = [change("ece", "ECE"), change("nll", "NLL"), change("brier", "Brier score")].join("; ");
  const what = ofHits ? "Log-odds of the confidence" : "Logits";
  return `${head}<p>${what} divided by T = <strong>${value.toFixed(3)}</strong> (95 % interval ${interval[0].toFixed(3)} to
${interval[1].toFixed(3)}) have the least negative log likelihood; ${escaped(means)}. The test set was halved at random: the
temperatures of the halves are ${fitted.map((one) => one.toFixed(3)).join(" and ")}, and each half was divided by that of the
other, so that no sample judges itself.</p>
<p>It changes: ${changes}. The predicted classes stay the same. <strong>${escaped(advice)}.</strong></p>`
    + (line ? `<p>To use it: <code>${escaped(line)}</code></p>` : "");
}

export function eventSection({ binary: it }, misfit) {
  const names = misfit ? ["as it is"] : ["as it is", "temperature"];
  const words = { nll: "NLL, nats", brier: "Brier score, (p − y)²", ece: "ECE of the event" };
  const rows = Object.entries(words).map(([name, said]) => [said, cell(name, it.maps["as it is"][name]),
    ...(misfit ? [] : [number(name, it.maps.temperature[name].value), cell(name, it.gain.temperature[name], true)])]);
  const luck = it.test ? `, by luck alone ${percent(it.test.expected, 2)} (${pValue(it.test.p_value)}),` : "";
  const worth = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`;
  return `<h2>The event: ${escaped(it.event)}</h2>
<p>It is predicted with ${percent(it.predicted, 2)} in the mean and came in ${percent(it.rate, 2)} of cases, a difference of
${number("gap", it.gap.value, true)}${ends("gap", it.gap, true)}. The probability of the event has an ECE of
${number("ece", it.ece.value)}${luck} and an AUC of ${number("auc", it.auc.value)}${ends("auc", it.auc)}.</p>
<div class="row"><div class="picture" id="picture-event"></div></div>
<p class="note">Hatched: predicted too high by so much. Dotted: predicted too low.</p>`
    + table("The event, as it is and with the temperature", ["", ...names, ...(misfit ? [] : ["difference"])], rows)
    + `<h3>What a threshold costs</h3>
<p>Whoever acts from a probability t on takes (1 − t) / t false alarms for one event found. The net benefit is the share of
events found less that of false alarms times t / (1 − t); acting on nobody is worth 0. A threshold pays where its net
benefit is above 0 and above that of acting on all.</p>`
    + table("Net benefit by threshold (score at or above it)",
      ["act from", "acts on", "events found", "false alarms", "net benefit", "acting on all"],
      it.net_benefit.map((row) => [percent(row.threshold, 0), percent(row.acted), percent(row.found, 2),
        percent(row.alarms, 2), worth(row.benefit), worth(row.all)]))
    + (it.costs ? decisionCosts(it.costs, misfit)
      : '<p class="note">What do a false alarm and a miss cost you? Say it above, and here stands what decisions cost.</p>');
}
