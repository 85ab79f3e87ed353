// What the name of a column says. As calibkit.auditing.names.
import { PART_WORDS, STATED_KINDS } from "./name_words.js";

// A name in small letters, all that parts its words an underscore.
export function bare(name) {
  return name.trim().toLowerCase().replace(/[^\p{L}\p{N}_%]+/gu, "_").replace(/^_+|_+$/g, "");
}

// The words of a name, without numbers.
export function partsOf(name) {
  return bare(name).replace(/log_?p(rob)?s?(?=_|$|[0-9])/g, "logprob").split(/[_\d]+/).filter(Boolean);
}

// Whether a name is of words that stand beside a class.
export const isOfParts = (name) => partsOf(name).every((word) => PART_WORDS.has(word));

// The kind of scores that all names state, or null.
export function statedKind(names) {
  const words = names.map(partsOf);
  return Object.keys(STATED_KINDS)
    .find((kind) => words.every((found) => found.some((word) => STATED_KINDS[kind].has(word)))) ?? null;
}

export function shortList(names) {
  return names.length <= 10 ? names.join(", ") : `${names.slice(0, 6).join(", ")} … (${names.length} columns)`;
}

// A word as it is typed at a command.
export const typed = (word) => (/[^\p{L}\p{N}_.,*+-]/u.test(word) ? `"${word}"` : word);
