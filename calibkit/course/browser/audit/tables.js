// The last sections of the page: classes, groups, coverage, the surest mistakes, and how it was made.
import { answerCosts } from "./cost_sections.js";
import { cell, count, ends, escaped, number, percent, table } from "./html.js";

const LISTED = 15, ALL = 20; // classes in the table; all of them where there are no more than ALL

export function classSection({ classes }) {
  const off = classes.filter(({ flag }) => flag.includes("off")).length;
  const rare = classes.filter(({ flag }) => /rare|no sample/.test(flag)).length;
  const shown = classes.length <= ALL ? classes : classes.slice(0, LISTED);
  const rarest = [...classes].sort((a, b) => a.samples - b.samples).slice(0, 5)
    .filter((one) => rare && !shown.includes(one));
  const what = (shown.length === classes.length ? "all classes" : `the ${shown.length} that are off most`)
    + (rarest.length ? ` and the ${rarest.length} rarest others` : "");
  return `<h2>Class by class</h2><p>${off} of ${count(classes.length)} classes are off: of what is predicted as them, the
share that is right is further from the confidence than luck explains (5 % in all classes together). ${count(rare)} classes
are rare: fewer than 10 samples, or than a quarter of an equal share; little can be said of each.</p>`
    + table(`Classes: ${what}`, ["class", "samples", "found", "predicted", "says", "is right", "gap", "note"],
      [...shown, ...rarest].map((row) => [escaped(row.name), count(row.samples), percent(row.recall), count(row.predicted),
        percent(row.said), percent(row.right), number("gap", row.gap, true), row.flag]))
    + `<p class="note">"found" is the share of the samples of the class that are predicted as it; "says" and "is right" are
of the samples predicted as it.</p>`;
}

export function groupSection({ groups, temperature, binary }) {
  const off = groups.filter(({ flag }) => flag === "off").map(({ name }) => escaped(name));
  const verdict = off.length ? `Off by more than luck (5 % in all groups together): ${off.join(", ")}.`
    : "No group is off by more than luck explains.";
  const gapOf = (gap, low, high) => cell("gap", { value: gap, interval: low === null ? null : [low, high] }, true);
  const fits = !temperature.misfit;
  const event = binary ? ` Gap of the event: mean probability of ${escaped(binary.event)} less the share of it.` : "";
  const left = fits ? "One temperature for all moves the gaps of all groups in the same direction. " : "";
  return `<h2>Group by group</h2><p>A model that is calibrated on the whole may be over-confident on one group and
under-confident on another. ${verdict}</p>`
    + table("Groups", ["group", "samples", "accuracy", "gap", ...(fits ? ["gap with temperature"] : []),
      ...(binary ? ["gap of the event"] : []), "ECE", "note"],
      groups.map((row) => [escaped(row.name), count(row.samples), percent(row.accuracy),
        gapOf(row.gap, row.low, row.high), ...(fits ? [gapOf(row.gap_left, row.low_left, row.high_left)] : []),
        ...(binary ? [gapOf(row.event_gap, row.event_low, row.event_high)] : []), number("ece", row.ece), row.flag]))
    + `<p class="note">Below each gap stands its 95 % interval.${event} ${left}The ECE of a small group is large by luck
alone; compare gaps.</p>`;
}

export function coverageSection({ coverage, deferral, temperature, measures: { aurc } }) {
  return `<h2>Leaving the unsure to somebody else</h2><p>Answer only where the confidence is high enough: the curve says what
share of the answers is then wrong. Its mean over all coverages is the AURC,
${number("aurc", aurc.value)}${ends("aurc", aurc)}; a confidence that says nothing would have
${percent(coverage[0].risk, 2)}.</p>
<div class="row"><div class="picture" id="picture-risk"></div>`
    + table("Coverage and risk", ["answered", "confidence from", "wrong"],
      coverage.map((row) => [percent(row.coverage, 0), row.threshold.toFixed(4), percent(row.risk, 2)])) + "</div>"
    + (deferral ? answerCosts(deferral, Boolean(temperature.misfit)) : "");
}

// Not "100.00 %" where something is left.
const sure = (confidence) => (confidence >= 0.99995 && confidence < 1 ? "&gt; 99.99\u00a0%" : percent(confidence, 2));

export function mistakeSection({ mistakes }) {
  if (!mistakes.length) return "<h2>The surest mistakes</h2><p>There is no mistake in this test set.</p>";
  return `<h2>The ${mistakes.length} surest mistakes</h2><p>Look at these samples: wrong labels, strange inputs and classes
that overlap come to light here first. Rows are counted from 0.</p>`
    + table("Surest mistakes, by row", ["row", "predicted", "label", "said", "gave the label"],
      mistakes.map((row) => [String(row.index), escaped(row.predicted), escaped(row.label), sure(row.confidence),
        percent(row.of_label, 2)]));
}

// command: the line that makes the whole page.
export function methodSection({ calibkit, bins }, command) {
  return `<h2>How this was made, and what is left out</h2><p>calibkit ${escaped(calibkit)} in this browser: ${bins} bins of
equal width, closed on the right; 95 % intervals from rows that are independent of one another. Accuracy has Wilson's, means
have Student's with a term for their skewness. The halves of the temperature and the draws of the test are those of the
command, so that its numbers are the same.</p><p>Left out are smooth ECE, the intervals of binned errors, Platt scaling, a
second model, clusters and weights. The command has them:</p><p><code>${escaped(command)}</code></p>`;
}
