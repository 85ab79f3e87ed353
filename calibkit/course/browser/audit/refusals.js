// Ways of not reading a file, and what can be done then.
//
//   Refused: the command refuses it, too, and these are its words, with the option that decides.
//   Unsure:  this page does not read such a file, the command may; or, with the names of lists of
//            the form, this page asks what the command may know.
// None is a fault of the page: each is shown beside the command line to run.

export class Refused extends Error {}
export class Unsure extends Error {
  // taken: what is known, as options; lists: of the form, that answer.
  constructor(words, taken = {}, lists = []) {
    super(words);
    Object.assign(this, { taken, lists });
  }
}

export function refuse(words) {
  throw new Refused(words);
}

export function unsure(words) {
  throw new Unsure(words);
}

export function ask(words, taken, ...lists) {
  throw new Unsure(words, taken, lists);
}

// Title and hint. unsure: whether it is this page alone that does not read it. fields: those of the
// form that answer the question.
export function whatToDo(unsure, fields) {
  if (fields.length) {
    return [unsure ? "What is what in this file?" : "This file needs a word from you",
      `Answer below, under ${fields.map(called).join(", ")}, and press “Read it so”.`];
  }
  return unsure ? ["This file the command can read", "This page does not. The command is written below."]
    : ["This file cannot be audited as it is", "Mend the file, and choose it again."];
}

// A field, as “Label column” (--label).
function called(field) {
  const label = field.closest("label"), option = label.querySelector("small");
  return `“${label.textContent.split(option.textContent)[0].trim()}” (${option.textContent})`;
}

const FLAGS = ["label", "scores", "kind", "positive", "groups"];

// options: the texts of the form by their names.
export function commandLine(file, options) {
  const parts = ["python -m calibkit audit", shell(file)], said = (name) => options[name]?.trim();
  for (const flag of FLAGS.filter(said)) parts.push(`--${flag}=${shell(said(flag))}`);
  if (said("alarm") && said("miss")) parts.push(`--costs ${shell(said("alarm"))} ${shell(said("miss"))}`);
  if (options.drop) parts.push("--drop-missing");
  return parts.join(" ");
}

const shell = (word) => (/^[\w.,+/-]+$/.test(word) ? word : `"${word.replace(/(["\\$`])/g, "\\$1")}"`);

// The controls of the form that a refusal names, such as "label" for --label.
export function namedIn(refusal) {
  const flags = new Set([...refusal.matchAll(/--([a-z-]+)/g)].map(([, flag]) => flag));
  return [...FLAGS.filter((flag) => flags.has(flag)), ...(flags.has("costs") ? ["alarm", "miss"] : []),
    ...(flags.has("drop-missing") ? ["drop"] : [])];
}
