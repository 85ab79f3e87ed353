// The part that reads and computes, in a thread of its own, so that the page stays quick.
//
//   { number, bytes, file, options, trust, version } ->
//   { columns }            the names of the columns, as soon as they are known
//   { refused, unsure }    the words of a refusal, and whether it is the page's alone
//   { found }              all numbers but those of the test; see shownOf
//   { tested }             the numbers with those of the test
// Each answer carries the number of its question, so that a late one is known as such.
import { audit, testOf } from "./auditing.js";
import { exported } from "./export.js";
import { Refused, Unsure } from "./refusals.js";
import { question, tableIn } from "./intake.js";
import { read } from "./reading.js";

const POINTS = 240; // of a curve: more are not seen
const UNTESTED = { test: null, power: [], event: null };

export function serveAudit(port) {
  port.onmessage = ({ data: { number, bytes, file, options, trust, version } }) => {
    const answer = (said) => port.postMessage({ number, ...said });
    try {
      const table = tableIn(bytes, file);
      answer({ columns: table.names });
      const found = audit(read(table, question(options)), file, trust);
      answer({ found: shownOf(found, exported(found, UNTESTED, version)) });
      answer({ tested: exported(found, testOf(found), version) });
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unsure)) throw error;
      answer({ refused: error.message, unsure: error instanceof Unsure });
    }
  };
}

// The numbers as JSON, and what the pictures need beyond them.
function shownOf(found, numbers) {
  const { after, advice, told, cooling, event, before: { aurc: { curve: { risk } } } } = found, n = risk.length;
  const some = [...new Set(Array.from({ length: POINTS }, (_, k) => Math.round((k * (n - 1)) / (POINTS - 1))))];
  const { bins, counts, confidence, accuracy } = after.wide;
  const cooled = cooling.misfit ? null : Array.from(counts, (samples, bin) =>
    ({ low: bin / bins, samples, confidence: confidence[bin], accuracy: accuracy[bin] })).filter(({ samples }) => samples);
  return { numbers, told, ofHits: event, means: advice.means, cooled,
    risk: some.map((place) => [(place + 1) / n, risk[place]]) };
}
