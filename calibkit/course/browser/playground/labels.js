// Wrong labels made on purpose, by exact counts (lesson 06; calibkit.curation.label_noise).
import { CLASSES } from "./digits.js";

// A share `rate` of the labels, drawn at random, is shuffled among itself: each class keeps its
// size, and about one in ten of the drawn labels happens to stay right.
export function shuffledLabels(labels, rate, random) {
  const noisy = labels.slice();
  const drawn = random.permutation(labels.length).slice(0, Math.round(rate * labels.length));
  const order = random.permutation(drawn.length);
  drawn.forEach((i, place) => {
    noisy[i] = labels[drawn[order[place]]];
  });
  return { labels: noisy, share: labels.length ? drawn.length / labels.length : 0 };
}

// Class by class: rates rise evenly from 0 to `rate` over the classes in a random order. What is
// drawn from a class becomes class j in proportion to the rate of j.
export function classwiseLabels(labels, rate, random) {
  const noisy = labels.slice(), places = random.permutation(CLASSES);
  const rates = Array.from(places, (place) => (rate * place) / (CLASSES - 1));
  const order = random.permutation(labels.length);
  let share = 0;
  for (let c = 0; c < CLASSES; c += 1) {
    const members = order.filter((i) => labels[i] === c);
    const drawn = members.slice(0, Math.round(rates[c] * members.length));
    drawn.forEach((i) => {
      noisy[i] = pick(rates, random);
    });
    share += drawn.length / labels.length;
  }
  return { labels: noisy, share };
}

// A class with the chance of its weight.
function pick(weights, random) {
  let left = random.uniform() * weights.reduce((sum, weight) => sum + weight, 0);
  for (let k = 0; k < weights.length - 1; k += 1) {
    left -= weights[k];
    if (left < 0) return k;
  }
  return weights.length - 1;
}
