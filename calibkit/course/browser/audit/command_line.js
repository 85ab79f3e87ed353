// The command that does the same as the page, as one types it.
const FLAGS = { label: "label", scores: "scores", kind: "kind", positive: "positive", predicted: "predicted",
  first: "first-class", classes: "classes", missing: "missing", groups: "groups" };

// options: the texts of the form by their names.
export function commandLine(file, options) {
  const parts = ["python -m calibkit audit", shell(file)];
  for (const [name, flag] of Object.entries(FLAGS)) {
    if (options[name]?.trim()) parts.push(`--${flag}=${shell(options[name].trim())}`);
  }
  const costs = [options.alarm, options.miss].map((text) => text?.trim());
  if (costs.every(Boolean)) parts.push(`--costs ${costs.map(shell).join(" ")}`);
  if (options.drop) parts.push("--drop-missing");
  return parts.join(" ");
}

const shell = (word) => (/^[\w.,+/-]+$/.test(word) ? word : `"${word.replace(/(["\\$`])/g, "\\$1")}"`);

// The controls of the form that a refusal names, such as "label" for --label.
export function namedIn(refusal) {
  const flags = new Set([...refusal.matchAll(/--([a-z-]+)/g)].map(([, flag]) => flag));
  const found = Object.keys(FLAGS).filter((name) => flags.has(FLAGS[name]));
  if (flags.has("costs")) found.push("alarm", "miss");
  return flags.has("drop-missing") ? [...found, "drop"] : found;
}
