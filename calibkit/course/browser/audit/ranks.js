// Ranks of numbers, equal ones sharing theirs.

// The places of numbers, the smallest first.
export function ascending(values) {
  return Uint32Array.from(values, (_, row) => row).sort((a, b) => values[a] - values[b] || a - b);
}

// The sum of the ranks (from 1 on) of the rows whose label is 1.
export function rankSums(values, labels) {
  const order = ascending(values);
  let sum = 0;
  for (let first = 0; first < order.length;) {
    let last = first, ones = 0;
    while (last < order.length && values[order[last]] === values[order[first]]) {
      ones += labels[order[last]];
      last += 1;
    }
    sum += (ones * (first + 1 + last)) / 2;
    first = last;
  }
  return sum;
}
