// The command that does the same as the page, as one types it.
const FLAGS = ["label", "scores", "kind", "positive", "missing", "groups"];

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
