// The losses, as calibkit.losses defines them: what one image costs, and its slope.
//
// Each is given p, the probabilities, logs, their logarithms, and q, the label as probabilities (all
// on one class, or on two under mixup). It writes the slope of the loss with each logit to
// `slope` and returns the loss, in nats. K classes.
const K = 10;

export const LOSSES = {
  // -sum q log p: what asks for the truth.
  "cross-entropy": () => (p, logs, q, slope) => against(p, logs, q, slope, 0),

  // A part alpha of the label is spread over all classes (lesson 09).
  smoothing: (alpha) => (p, logs, q, slope) => against(p, logs, q, slope, alpha),

  // -sum q (1 - p)^gamma log p: what is right already counts less (lessons 10 and 11).
  focal: (gamma) => (p, logs, q, slope) => {
    let loss = 0, sum = 0;
    for (let k = 0; k < K; k += 1) {
      slope[k] = 0;
      if (q[k] === 0) continue;
      const rest = -Math.expm1(logs[k]), power = rest ** gamma; // 1 - p without rounding
      loss -= q[k] * power * logs[k];
      const inner = rest === 0 ? 0 : (gamma * p[k] * power * logs[k]) / rest;
      slope[k] = q[k] * (inner - power); // p dloss/dp
      sum += slope[k];
    }
    for (let k = 0; k < K; k += 1) slope[k] -= p[k] * sum;
    return loss;
  },

  // sum (p - q)^2 (lesson 09).
  brier: () => (p, logs, q, slope) => {
    let loss = 0, sum = 0;
    for (let k = 0; k < K; k += 1) {
      const off = p[k] - q[k];
      loss += off * off;
      slope[k] = 2 * off * p[k];
      sum += slope[k];
    }
    for (let k = 0; k < K; k += 1) slope[k] -= p[k] * sum;
    return loss;
  },

  // Cross-entropy minus `weight` times the entropy of the answer (lesson 09).
  penalty: (weight) => (p, logs, q, slope) => {
    const loss = against(p, logs, q, slope, 0);
    let negative = 0; // sum p log p
    for (let k = 0; k < K; k += 1) negative += p[k] * logs[k];
    for (let k = 0; k < K; k += 1) slope[k] += weight * p[k] * (logs[k] - negative);
    return loss + weight * negative;
  },
};

function against(p, logs, q, slope, alpha) {
  let loss = 0;
  for (let k = 0; k < K; k += 1) {
    const wanted = (1 - alpha) * q[k] + alpha / K;
    loss -= wanted * logs[k];
    slope[k] = p[k] - wanted;
  }
  return loss;
}

// The mean loss of a batch; the slope of that mean is written to `blame`.
// logits, blame: (rows x K); targets: (rows x K), rows of class weights that sum to 1.
export function lossOfBatch(loss, logits, targets, blame, rows) {
  const p = new Float64Array(K), logs = new Float64Array(K), slope = new Float64Array(K);
  let total = 0;
  for (let r = 0; r < rows; r += 1) {
    const row = r * K;
    let most = -Infinity, sum = 0;
    for (let k = 0; k < K; k += 1) if (logits[row + k] > most) most = logits[row + k];
    for (let k = 0; k < K; k += 1) sum += Math.exp(logits[row + k] - most);
    for (let k = 0; k < K; k += 1) {
      logs[k] = logits[row + k] - most - Math.log(sum);
      p[k] = Math.exp(logs[k]);
    }
    total += loss(p, logs, targets.subarray(row, row + K), slope);
    for (let k = 0; k < K; k += 1) blame[row + k] = slope[k] / rows;
  }
  return total / rows;
}
