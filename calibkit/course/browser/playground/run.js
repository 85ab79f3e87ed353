// One run: the data that the settings ask for, and the networks that learn from them.
// The same settings give the same run; each thing that is drawn has a stream of its own, so that
// changing one setting moves only what it is about.
import { Random } from "../shared/random.js";
import { softmaxRows } from "../shared/metrics.js";
import { CLASSES, PIXELS } from "./digits.js";
import { drawDigits, rareSizes, withNoise } from "./noise.js";
import { classwiseLabels, shuffledLabels } from "./labels.js";
import { posterior } from "./posterior.js";
import { Network } from "./network.js";
import { LOSSES } from "./losses.js";
import { Training } from "./training.js";

export const TEST = 2000; // new images
export const HELD = 1000; // further images that a temperature is fitted on

// The images that the networks learn from. clean: the labels before some were made wrong.
export function trainingData(digits, settings) {
  const stream = (purpose) => new Random(settings.seed, purpose), n = settings.images;
  const sizes = settings.rho > 1 ? rareSizes(n, settings.rho, stream("rare")) : null;
  const drawn = drawDigits(digits, n, stream("training images"), sizes);
  const spoil = settings.kind === "class" ? classwiseLabels : shuffledLabels;
  const { labels, share } = spoil(drawn.labels, settings.wrong, stream("wrong labels"));
  return { images: withNoise(digits, drawn, settings.noise), labels, clean: drawn.labels, share };
}

// New images under noise of their own strength, with what the exact posterior says of them.
export function testData(digits, settings) {
  const noise = settings.testNoise || settings.noise;
  const drawn = drawDigits(digits, TEST, new Random(settings.seed, "new images"));
  const images = withNoise(digits, drawn, noise);
  return { images, labels: drawn.labels, posterior: posterior(digits, images, noise), noise };
}

// Images to fit a temperature on: noise as in training, labels that are right.
export function heldData(digits, settings) {
  const drawn = drawDigits(digits, HELD, new Random(settings.seed, "held images"));
  return { images: withNoise(digits, drawn, settings.noise), labels: drawn.labels };
}

// The settings' own loss with its strength.
export function lossOf({ loss, gamma, alpha, weight }) {
  return LOSSES[loss]({ focal: gamma, smoothing: alpha, penalty: weight }[loss]);
}

export class Run {
  constructor(digits, settings) {
    this.train = trainingData(digits, settings);
    this.held = heldData(digits, settings);
    const sizes = [PIXELS, ...Array(settings.depth).fill(settings.width), CLASSES];
    this.trainings = Array.from({ length: settings.ensemble }, (_, member) => {
      const stream = (purpose) => new Random(settings.seed, `${purpose} ${member}`);
      return new Training({
        network: new Network(sizes, stream("weights")),
        images: this.train.images,
        labels: this.train.labels,
        loss: lossOf(settings),
        epochs: settings.epochs,
        decay: settings.decay,
        mixup: settings.mixup,
        order: stream("order"),
        mixing: stream("mixing"),
      });
    });
  }

  // One epoch of every network; the mean loss.
  epoch() {
    const losses = this.trainings.map((training) => training.epoch());
    return losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
  }

  // Logits (n x 10) of the network; of several the logarithm of their mean probability.
  logits(images) {
    const each = this.trainings.map(({ network }) => network.logits(images));
    if (each.length === 1) return each[0];
    const probs = each.map((logits) => softmaxRows(logits, CLASSES));
    return Float32Array.from(each[0], (_, i) => {
      const mean = probs.reduce((sum, one) => sum + one[i], 0) / probs.length;
      return Math.log(Math.max(mean, 1e-38));
    });
  }
}
