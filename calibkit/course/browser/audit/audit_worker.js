// The part that reads and computes, in a thread of its own, so that the page stays quick.
//
//   { number, bytes, file, options, trust, version } ->
//   { columns, values }    the names of the columns, as soon as they are known, and by them the
//                          labels that each may hold, none where it holds very many, or fractions
//   { refused, unsure, lists, taken }  the words of a refusal, whether it is the page's alone, the
//                          lists that answer it, and what was known
//   { found, label }       all numbers but those of the test; see shownOf
//   { tested }             the numbers with those of the test
// Each answer carries the number of its question, so that a late one is known as such.
import { audit, testOf } from "./auditing.js";
import { exported } from "./export.js";
import { Refused, Unsure } from "./refusals.js";
import { holdsFractions } from "./table.js";
import { question, tableIn } from "./intake.js";
import { wordAt } from "./names.js";
import { read } from "./reading.js";

const POINTS = 240; // of a curve: more are not seen
const UNTESTED = { test: null, power: [], event: null };

export function serveAudit(port) {
  port.onmessage = ({ data: { number, bytes, file, options, trust, version } }) => {
    const answer = (said) => port.postMessage({ number, ...said });
    try {
      const table = tableIn(bytes, file);
      answer({ columns: table.names, values: Object.fromEntries(table.columns.map((one) => [one.name, valuesOf(one)])) });
      const given = read(table, question(options)), found = audit(given, file, trust);
      answer({ found: shownOf(found, exported(found, UNTESTED, version)), label: given.label });
      answer({ tested: exported(found, testOf(found), version) });
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unsure)) throw error;
      const { lists, taken } = error;
      answer({ refused: error.message, unsure: error instanceof Unsure, lists, taken });
    }
  };
}

function valuesOf(column) {
  if (holdsFractions(column)) return [];
  const word = (row) => (column.words ? column.words[row].trim() : wordAt(column, row));
  const words = [...new Set(column.filled().slice(0, 2000).map(word))];
  return words.length > 20 ? [] : words.sort();
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
