// Which twelve images are shown: the first of the new ones, or those of the bin that was clicked.
import { Random } from "../shared/random.js";
import { PIXELS } from "./digits.js";
import { drawDigits, withNoise } from "./noise.js";
import { posterior } from "./posterior.js";
import { said, showImages } from "./thumbnails.js";

const IMAGES = 12;

// The items of thumbnails.showImages. The network is silent until it has learned something.
export function imagesOf({ chosen, judged, run, rows }, digits) {
  const { of, bin } = chosen ?? { of: "test", bin: null };
  const source = of === "train" ? run.train : run.test, shown = judged[of];
  const network = judged[of === "exact" ? "test" : of].probs;
  const members = [];
  for (let i = 0; i < shown.labels.length && members.length < IMAGES; i += 1) {
    if (bin === null || shown.binned.bin[i] === bin) members.push(i);
  }
  const imageOf = (i) => source.images.subarray(i * PIXELS, (i + 1) * PIXELS);
  const exact = of === "train" ? exactOf(members.map(imageOf), run.settings.noise, digits)
    : members.map((i) => said(judged.exact.probs, i));
  return members.map((i, place) => {
    const label = source.labels[i], truth = (source.clean ?? source.labels)[i];
    return {
      image: imageOf(i), label: truth, note: label === truth ? "" : `, labelled ${label}`,
      network: rows.length ? said(network, i) : null, exact: exact[place],
    };
  });
}

// What the exact posterior says of some training images.
function exactOf(images, noise, digits) {
  const together = new Float32Array(images.length * PIXELS);
  images.forEach((image, place) => together.set(image, place * PIXELS));
  const probs = posterior(digits, together, noise);
  return images.map((_, place) => said(probs, place));
}

export function titleOf({ chosen, judged }) {
  if (!chosen) return "Twelve of the new digits";
  const { bins, counts } = judged[chosen.of].binned, whole = (edge) => Math.round((100 * edge) / bins);
  const who = chosen.of === "exact" ? "the posterior" : "it", n = counts[chosen.bin];
  const some = n > IMAGES ? `, ${IMAGES} of ${n}` : "";
  return `${who} is ${whole(chosen.bin)} to ${whole(chosen.bin + 1)} % sure of these${n ? some : ": none"}`;
}

// The twelve under the noise that is chosen, at once, before anything has learned from it.
export function preview(settings, digits) {
  const noise = settings.testNoise || settings.noise;
  const drawn = drawDigits(digits, IMAGES, new Random(settings.seed, "new images"));
  const images = withNoise(digits, drawn, noise), exact = posterior(digits, images, noise);
  showImages(document.getElementById("images"), Array.from(drawn.labels, (label, i) => ({
    image: images.subarray(i * PIXELS, (i + 1) * PIXELS), label, note: "", network: null, exact: said(exact, i),
  })));
}
