// A round of answers as a small file, and back. Whatever is wrong with a file is said in words.
const KIND = "calibkit: your own reliability diagram", VERSION = 1;
export const ROUNDS = ["before", "after"];
const LONGEST = 100_000; // characters; a file of ours has some 3,000

export function textOf({ code, round, answers }) {
  return `${JSON.stringify({ kind: KIND, version: VERSION, code, round, answers }, null, 1)}\n`;
}

// A name for the file, of letters that every system takes.
export const fileNameOf = ({ code, round }) =>
  `own_diagram_${code.replace(/[^\p{L}\p{N}-]+/gu, "_") || "answers"}_${round}.json`;

// Throws an Error that says what is wrong.
export function roundOf(text, questions) {
  if (text.length > LONGEST) throw new Error("it is too long");
  let read;
  try {
    read = JSON.parse(text);
  } catch {
    throw new Error("it is no file that this page saved");
  }
  if (read?.kind !== KIND) throw new Error("it is no file that this page saved");
  if (read.version !== VERSION) throw new Error(`it is of version ${read.version}, this page reads ${VERSION}`);
  const { code, round, answers } = read;
  if (typeof code !== "string" || !code.trim() || code.length > 40) throw new Error("its code word is missing or too long");
  if (!ROUNDS.includes(round)) throw new Error("it does not say whether it is from before or after the course");
  const kept = {};
  for (const { id } of questions) {
    const { option, confidence } = answers?.[id] ?? {};
    if (option !== 0 && option !== 1) throw new Error(`the answer to "${id}" is missing`);
    if (!(confidence >= 0.5 && confidence <= 1)) throw new Error(`the confidence of "${id}" is not from 50 to 100 %`);
    kept[id] = { option, confidence };
  }
  return { code: code.trim(), round, answers: kept };
}
