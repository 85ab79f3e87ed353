// The training: stochastic gradient descent with momentum, as the lessons' calibkit.lab.training.
import { CLASSES, PIXELS } from "./digits.js";
import { lossOfBatch } from "./losses.js";

export const BATCH = 128;
export const RATE = 0.1;
export const MOMENTUM = 0.9;

// The rate is divided by ten after a half, and again after three quarters, of the epochs.
export function rateOf(epoch, epochs) {
  const steps = [0.5, 0.75].map((share) => Math.max(1, Math.floor(share * epochs + 1e-9)));
  return RATE * 0.1 ** steps.filter((step) => epoch >= step).length;
}

export class Training {
  // images (n x 64), labels (n). loss: as of LOSSES. order, mixing: generators. mixup: alpha of
  // Beta(alpha, alpha), 0 for none. decay: weight decay.
  constructor({ network, images, labels, loss, epochs, decay, mixup, order, mixing }) {
    Object.assign(this, { network, images, labels, loss, epochs, decay, mixup, order, mixing });
    this.done = 0; // epochs
    this.steps = []; // the loss of each step
    this.inputs = new Float64Array((BATCH + 1) * PIXELS);
    this.targets = new Float64Array((BATCH + 1) * CLASSES);
    this.speeds = network.layers.map(({ weight, bias }) => (
      { weight: new Float64Array(weight.length), bias: new Float64Array(bias.length) }));
  }

  // One pass over all images in random order; returns the mean loss.
  epoch() {
    const n = this.labels.length, order = this.order.permutation(n);
    const rate = rateOf(this.done, this.epochs);
    let total = 0;
    for (let first = 0; first < n;) {
      let rows = Math.min(BATCH, n - first);
      if (n - first - rows === 1) rows += 1; // a single image joins the batch before it
      const loss = this.step(order.subarray(first, first + rows), rate);
      total += loss * rows;
      first += rows;
    }
    this.done += 1;
    return total / n;
  }

  step(chosen, rate) {
    const rows = chosen.length;
    this.fill(chosen);
    const logits = this.network.forward(this.inputs, rows);
    const loss = lossOfBatch(this.loss, logits, this.targets, this.network.last.blame, rows);
    this.network.backward(rows);
    this.network.layers.forEach((layer, l) => {
      for (const part of ["weight", "bias"]) {
        this.descend(layer[part], layer.gradient[part], this.speeds[l][part], rate);
      }
    });
    this.steps.push(loss);
    return loss;
  }

  // The batch as the network meets it. Mixup blends each image, and its label, with another of
  // the batch: lam of its own and 1 - lam of its partner's, one lam a batch.
  fill(chosen) {
    const rows = chosen.length, { inputs, targets } = this;
    const lam = this.mixup ? Math.fround(this.mixing.beta(this.mixup)) : 1;
    const partner = this.mixup ? this.mixing.permutation(rows) : null;
    targets.fill(0, 0, rows * CLASSES);
    for (let r = 0; r < rows; r += 1) {
      const own = chosen[r], other = partner ? chosen[partner[r]] : own;
      targets[r * CLASSES + this.labels[own]] += lam;
      targets[r * CLASSES + this.labels[other]] += 1 - lam;
      for (let p = 0; p < PIXELS; p += 1) {
        const mine = this.images[own * PIXELS + p];
        const theirs = partner ? this.images[other * PIXELS + p] : mine;
        inputs[r * PIXELS + p] = theirs + lam * (mine - theirs);
      }
    }
  }

  // Weight decay pulls towards 0; the speed keeps nine tenths of itself at each step.
  descend(values, gradient, speed, rate) {
    for (let i = 0; i < values.length; i += 1) {
      speed[i] = MOMENTUM * speed[i] + gradient[i] + this.decay * values[i];
      values[i] -= rate * speed[i];
    }
  }
}
