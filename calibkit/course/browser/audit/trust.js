// Which intervals may be shown: those that a simulation has seen to cover as they say.
// As calibkit.auditing.trust, of whose table the builder of the page brings an excerpt:
// trust: measure -> "2" (classes) or "more" -> [[rows, whether it covers], ...], by rows.

// -> covers(measure, classes, n)
export const coverOf = (trust) => (measure, classes, n) => {
  const table = trust[measure]?.[classes === 2 ? "2" : "more"] ?? [];
  const below = table.filter(([rows]) => rows <= n).at(-1), above = table.find(([rows]) => rows >= n);
  return Boolean(below?.[1]) && (above ?? below)[1];
};
