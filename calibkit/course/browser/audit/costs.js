// What decisions cost, as a model is and with its temperature, where two costs are known: of a false
// alarm and of a miss; of answers, of looking one up and of acting on a wrong one. As
// calibkit.auditing.binary.
import { NONE, estimate, meanEnds, meanOf } from "./estimates.js";
import { refuse } from "./refusals.js";

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
const ROUNDING = 1e-9; // by which 1 - .95 may miss .05
const LEAST = 5; // rows with a miss, or with a miss more or less, from which on an interval is shown

// What the form says: [alarm, miss], or null where both places are empty.
export function askedCosts(alarm, miss) {
  const said = [alarm, miss];
  if (said.every((text) => text === null)) return null;
  if (said.some((text) => text === null || !NUMBER.test(text) || !Number.isFinite(Number(text)))) {
    refuse("--costs must be two numbers, of a false alarm and of a miss");
  }
  const costs = said.map(Number);
  if (costs.some((cost) => cost <= 0)) refuse("--costs must be above 0, of a false alarm and of a miss");
  return costs;
}

// models: name -> rows of eventRows; the first is the model as it is. A row is acted on where its
// score is at or above alarm / (alarm + miss), the cheapest threshold for a calibrated probability.
export function costsOf(models, [alarm, miss]) {
  const threshold = alarm / (alarm + miss);
  return paid(models, { alarm, miss, found: 0 }, threshold, (right) => right, (said) => said >= threshold);
}

// models: name -> rows whose confidence is that the answer is right. An answer is looked up where it is
// wrong with a probability above lookup / wrong; what was wrong and is looked up costs lookup, too.
export function costsOfAnswers(models, [lookup, wrong]) {
  if (wrong <= lookup) {
    refuse("costs of answers are of looking one up and then of acting on a wrong one, which must cost more, got "
      + `${lookup} and ${wrong}`);
  }
  const threshold = lookup / wrong, lookedUp = (said) => said < 1 - threshold - ROUNDING;
  return paid(models, { alarm: lookup, miss: wrong, found: lookup }, threshold, (right) => !right, lookedUp);
}

// comes(right), acts(said): whether the event of a row came, and whether it is acted on.
function paid(models, { alarm, miss, found }, threshold, comes, acts) {
  const [first, ...others] = models.map(([name, rows]) => decided(name, rows));
  return { alarm, miss, threshold, none: miss * first.rate, all: alarm * (1 - first.rate) + found * first.rate,
    models: [shown(first, null), ...others.map((one) => shown(one, first))] };

  function decided(model, { n, confidence, correct }) {
    const each = new Float64Array(n), missed = new Uint8Array(n);
    let acted = 0, alarms = 0, events = 0;
    confidence.forEach((said, row) => {
      const acting = acts(said), event = comes(Boolean(correct[row])), inVain = acting && !event;
      missed[row] = Number(event && !acting);
      each[row] = alarm * inVain + miss * missed[row] + found * (acting && event);
      acted += acting;
      alarms += inVain;
      events += event;
    });
    return { model, each, missed, acted: acted / n, alarms: alarms / n, rate: events / n };
  }
}

function shown({ model, each, missed, acted, alarms }, first) {
  const less = first && costOf(each.map((cost, row) => cost - first.each[row]),
    missed.map((one, row) => Number(one !== first.missed[row])));
  return { model, cost: costOf(each, missed), difference: less, acted, missed: meanOf(missed), alarms };
}

// The mean of the costs, with an interval where enough of the dear rows decide it.
function costOf(each, dear) {
  const enough = dear.reduce((sum, one) => sum + one, 0) >= LEAST;
  return estimate(meanOf(each), enough ? meanEnds(each) : NONE);
}
