// What the name of a column says: labels, scores of a class, a decision, or something beside.
// As calibkit.auditing.names decides it.
import { BESIDE_NAMES, CONFIDENCE_NAMES, OTHER_WORDS, STATED_KINDS } from "./name_words.js";

const SORT = "y_prob(?:a|s)?|y_score|pred_prob(?:a|s)?|predict_proba|predicted_prob|logits?|"
  + "log_?probs?|prob(?:s|a|ability|abilities)?|p|scores?|softmax|sigmoid|percent|pct|"
  + "y_pred_prob(?:a|s)?|y_pred|preds?|predictions?|output|out|class|label|z|conf|confidence";
const BEFORE = new RegExp(`^(${SORT})(?:[\\s_.:\\-]+|(?=[\\[(]))(\\S.*)$`, "i");
const NUMBERED = new RegExp(`^(${SORT})(\\d+)$`, "i");
const AFTER = new RegExp(`^(\\S.*?)[\\s_.:\\-]+(${SORT})$`, "i");
const TOP = /(^|[^a-z])top[\s_-]*[k\d]|(^|[^a-z])rank[\s_-]*\d|\d+(st|nd|rd|th)[\s_]/;
const FIRST = /^(top_?1_(p|prob|probability|score|conf|confidence)|(p|prob|score|conf)_top_?1)$/;

// A name in small letters, all that parts its words an underscore.
export function bare(name) {
  return name.trim().toLowerCase().replace(/[^\p{L}\p{N}_%]+/gu, "_").replace(/^_+|_+$/g, "");
}

// Family and class of a column, or null: p_cat, prob0, cat_score, logit[3], P(cat).
export function parted(name) {
  const text = name.trim(), before = BEFORE.exec(text) ?? NUMBERED.exec(text), after = AFTER.exec(text);
  if (before) return { family: before[1].toLowerCase(), of: ofClass(before[2].replace(/^[[\]() ]+|[[\]() ]+$/g, "")) };
  return after ? { family: `_${after[2].toLowerCase()}`, of: ofClass(after[1]) } : null;
}

// The number of a class that is called class_3 or label3.
const ofClass = (text) => text.replace(/^(class|label|cls)[_ ]?(?=\d+$)/i, "");

// The class that a column is called after.
export const classOf = (name) => parted(name)?.of ?? name.trim();

export const standsBeside = (name) => BESIDE_NAMES.has(bare(name));

// Whether a name has a word that no score has.
export function isOdd(name) {
  const words = bare(name).split("_");
  return words.length > 1 && words.some((word) => OTHER_WORDS.has(word));
}

// Whether it is that of the confidence of what a row predicts.
export const isSure = (name) => CONFIDENCE_NAMES.has(bare(name)) || FIRST.test(bare(name));

// Whether names are those of the k largest scores, which are no classes.
export const ofTop = (names) => names.some((name) => TOP.test(name.toLowerCase()));

// The kind of scores that names state, or null.
export function statedKind(names) {
  const joined = names.map((name) => bare(name).replace(/log_?p(rob)?s?/g, "logprob").split(/[_\d]+/));
  for (const [kind, stated] of Object.entries(STATED_KINDS)) {
    if (joined.every((found) => found.some((word) => stated.has(word)))) return kind;
  }
  return names.some((name) => name.includes("%")) ? "percent" : null;
}

// --- for messages ---

export function shortList(names) {
  return names.length <= 10 ? names.join(", ") : `${names.slice(0, 6).join(", ")} … (${names.length} columns)`;
}

// A word as it is typed at a command.
export const typed = (word) => (/[^\p{L}\p{N}_.,*+-]/u.test(word) ? `"${word}"` : word);

// What the user types for a set of columns.
export function scoresOption(names) {
  const start = parted(names[0]);
  if (names.length > 6 && start && !start.family.startsWith("_")) {
    return `--scores "${names[0].slice(0, names[0].lastIndexOf(start.of))}*"`;
  }
  return `--scores ${typed(names.join(","))}`;
}
