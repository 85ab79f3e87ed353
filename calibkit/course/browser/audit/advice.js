// What is advised about a temperature, in words and as a line to run. As calibkit.auditing.advice.
import { Z } from "../shared/metrics.js";
import { shortNumber } from "./python_words.js";

const MOST_RISE = 0.01; // of the ECE, clear or not, with which a temperature is still advised
const OPEN = "Whether the rise of the calibration error is more than luck, the command says: its interval is drawn "
  + "at random, and this page leaves that out";

// rises: [{ name, value, error }] of the ECE, and of a binary model that of the event.
// gain: with the temperature less as it is. ofOne: whether the scores came as one column.
export function advise(cooling, gain, rises, gap, scores, ofOne) {
  if (cooling.misfit) {
    const words = `No temperature fits: ${cooling.misfit}. Nothing is advised`;
    return { verdict: "none fits", words, means: "", line: "" };
  }
  const { verdict, words } = weighed(cooling, gain, rises);
  const line = verdict === "use" ? lineOf(cooling.value, scores, ofOne) : "";
  return { verdict, words, means: meaning(cooling.value, gap), line };
}

function weighed({ low, high }, gain, rises) {
  if (low <= 1 && high >= 1) {
    return { verdict: "no need", words: `Its interval, ${low.toFixed(3)} to ${high.toFixed(3)}, holds 1: it is not needed` };
  }
  const losses = Object.entries({ "the likelihood": gain.nll, "the Brier score": gain.brier });
  const better = losses.filter(([, loss]) => loss.clear && loss.value < 0).map(([name]) => name);
  const worse = losses.filter(([, loss]) => loss.clear && loss.value > 0).map(([name]) => name);
  const most = rises.reduce((a, b) => (b.value > a.value ? b : a));
  const points = (rise) => (100 * rise.value).toFixed(1), verb = (names, word) => (names.length > 1 ? word : `${word}s`);
  const gains = `${joined(better)} ${verb(better, "gain")}`, loses = `${joined(worse)} ${verb(worse, "lose")}`;
  // the lower end of a rise lies below its value by more than these errors: by luck's part in it, too
  if (rises.some((rise) => rise.value - Z * rise.error > 0)) return { verdict: null, words: OPEN };
  if (better.length && worse.length) {
    return { verdict: "disagreement", words: `The measures disagree: ${gains} clearly, and ${loses} clearly. One `
      + "temperature is the wrong correction here, and none is advised; look at the diagram, and try a map with "
      + "more freedom, such as isotonic regression" };
  }
  if (worse.length) {
    return { verdict: "harm", words: `${capital(loses)} clearly: do not use it, and look at where the data come from` };
  }
  if (!better.length) {
    return { verdict: "no need", words: "Neither the likelihood nor the Brier score moves clearly: it is not needed" };
  }
  const grows = `${most.name} rises by ${points(most)} points`;
  if (most.value >= MOST_RISE) {
    const words = `${capital(gains)} clearly, but ${grows}, which may be luck or not: none is advised`;
    return { verdict: "disagreement", words };
  }
  return { verdict: "use", words: `${capital(gains)} clearly${most.value >= 5e-4 ? `, though ${grows}` : ""}: use it` };
}

const joined = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0] ?? "");
const capital = (words) => words.slice(0, 1).toUpperCase() + words.slice(1);

// What a temperature says of the model: too sure only where the gap says so, too.
function meaning(value, gap) {
  const above = value > 1, side = above ? "large" : "small", where = above ? "above" : "below";
  if (gap.clear && gap.value > 0 === above) {
    return `${where} 1 the logits were too ${side}, the model ${above ? "too sure" : "not sure enough"}`;
  }
  return `${where} 1 the logits were too ${side} for the likelihood, while the signed gap does not say that the model is `
    + `${above ? "too sure" : "not sure enough"} on average`;
}

// A line of Python that cools scores of the form in which they came.
function lineOf(temperature, { logits, floor, event }, ofOne) {
  const name = event ? "confidence" : "prob";
  const t = shortNumber(temperature, 6), least = shortNumber(floor, 6);
  if (logits) return ofOne ? `prob = torch.sigmoid(logit / ${t})` : `probs = torch.softmax(logits / ${t}, dim=1)`;
  if (ofOne) return `${name} = torch.sigmoid(torch.logit(${name}${floor ? `, eps=${least}` : ""}) / ${t})`;
  return `probs = torch.softmax(torch.log(probs${floor ? `.clamp(min=${least})` : ""}) / ${t}, dim=1)`;
}
