// The whole audit: from what was read of a file to all numbers of the page.
//
//   audit(given, file, trust) -> found, everything but the test, which is drawn
//   testOf(found) -> { test, power, event }, which takes longest
// As calibkit.auditing.audits.
import { advise } from "./advice.js";
import { BINS } from "../shared/metrics.js";
import { calibrationTest } from "./testing.js";
import { classTable, furtherOff, groupTable, groupsOf, surestMistakes } from "./findings.js";
import { concerns, notForAll, off, repeated } from "./concerns.js";
import { costsOfAnswers } from "./costs.js";
import { coverageTable } from "./risk.js";
import { coverOf } from "./estimates.js";
import { crossFitted } from "./cooling.js";
import { eventOf } from "./event.js";
import { judgeRows } from "./judging.js";
import { logitsOf, scoresOf } from "./scoring.js";
import { Measured } from "./measuring.js";
import { refuse } from "./refusals.js";

export function audit(given, file, trust) {
  const scores = scoresOf(given), { classes, event } = scores, { labels } = given, covers = coverOf(trust);
  if (scores.n < 4) refuse(`logits must hold at least 4 rows that weigh, got ${scores.n}`);
  if (given.costs && classes !== 2) refuse("costs are of a binary model: one of two classes, or of one score");
  const names = given.names ?? Array.from({ length: classes }, (_, k) => String(k)), logits = logitsOf(scores);
  const cooling = crossFitted(logits, labels, classes);
  const before = new Measured(judgeRows(scores, labels, { logits: scores.logits }), covers);
  const cooled = judgeRows({ ...scores, values: logits }, labels, { logits: true, temperature: cooling.ofRow });
  const after = new Measured(cooled, covers);
  const binary = classes === 2 && !event ? eventOf(before, after, names, given.costs) : null;
  const deferral = event && given.costs
    ? costsOfAnswers([["as it is", before.rows], ["temperature", after.rows]], given.costs) : null;
  const gain = after.less(before);
  const kinds = { ...(given.groups && { groups: groupsOf(given.groups) }),
    ...(classes > 2 && { "predicted classes": { names, which: before.rows.predicted } }) };
  const left = cooling.misfit ? null : cooled, ofEvent = binary?.measured.rows;
  const groups = given.groups && groupTable(before.rows, left, kinds.groups, ofEvent);
  const ofClasses = classTable(before.rows, names);
  const rise = (name, mine, theirs) =>
    ({ name, value: mine.values.ece - theirs.values.ece, error: mine.errorOfRise(theirs) });
  const rises = [rise("the ECE", after, before)];
  if (binary) rises.push(rise("the ECE of the event", binary.cooled, binary.measured));
  const advice = advise(cooling, gain, rises, before.estimate("gap"), scores, given.classes === 1);
  if (advice.verdict === "use") {
    const further = Object.entries(kinds).map(([kind, of]) => [kind, furtherOff(before.rows, cooled, of)]);
    advice.words += notForAll(Object.fromEntries(further));
  }
  return {
    name: file.replace(/\.[^.]*$/, ""), names, told: given.told, bins: BINS, fileRows: given.rows,
    before, after, cooling, gain, binary, deferral, groups, event,
    warnings: [...given.leftOut, ...off(groups, event ? null : ofClasses), ...repeated(scores, before.rows),
      ...concerns(before, cooling, event)],
    advice, classes: ofClasses, coverage: coverageTable(before.rows, before.aurc.curve),
    mistakes: surestMistakes(before.rows, names),
  };
}

// The draws of the command, one for one; of very many rows they would take too long.
const MOST_DRAWN = 200_000; // rows

export function testOf({ before, binary }) {
  if (before.rows.n > MOST_DRAWN) return { test: null, power: [], event: null };
  const whole = calibrationTest(before.rows);
  return { ...whole, event: binary && calibrationTest(binary.measured.rows, []).test };
}
