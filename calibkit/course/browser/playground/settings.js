// The settings: what can be chosen, where each begins, and which lesson is about it.
//
// stops: the values of a slider. choices: value -> words of a list. group: which part of the panel.
// when: whether it has a meaning beside the others. live: it changes what is asked of a trained
// network, not the training.
const percent = (share) => `${Math.round(100 * share)} %`;
const none = (show) => (value) => (value ? show(value) : "none");

export const SETTINGS = [
  { name: "images", words: "images to learn from", lesson: "05", group: "first", start: 1500,
    stops: [100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000], show: (n) => n.toLocaleString("en") },
  { name: "wrong", words: "shuffled labels", lesson: "06", group: "first", start: 0,
    stops: [0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6], show: none(percent) },
  { name: "epochs", words: "epochs (times it sees each image)", lesson: "03", group: "first",
    start: 60, stops: [1, 2, 5, 10, 20, 40, 60, 100, 200], show: String },
  { name: "noise", words: "pixel noise", lesson: "01", group: "first", start: 0.4,
    stops: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1], show: String },
  { name: "kind", words: "which labels are shuffled", lesson: "06", group: "data", start: "random",
    choices: { random: "any, at random", class: "more in some classes" }, when: (s) => s.wrong > 0 },
  { name: "rho", words: "commonest digit : rarest", lesson: "07", group: "data", start: 1,
    stops: [1, 2, 5, 10, 20, 50, 100], show: (rho) => (rho === 1 ? "all alike" : `${rho} : 1`) },
  { name: "depth", words: "hidden layers", lesson: "03", group: "network", start: 2,
    stops: [0, 1, 2], show: String },
  { name: "width", words: "units a layer", lesson: "03", group: "network", start: 64,
    stops: [4, 8, 16, 32, 64, 128, 256], show: String, when: (s) => s.depth > 0 },
  { name: "ensemble", words: "networks that vote", lesson: "11", group: "network", start: 1,
    stops: [1, 2, 3, 4, 5], show: String },
  { name: "loss", words: "loss", lesson: "09", group: "training", start: "cross-entropy",
    choices: { "cross-entropy": "cross-entropy", focal: "focal loss", smoothing: "label smoothing",
      brier: "Brier loss", penalty: "confidence penalty" } },
  { name: "gamma", words: "focal loss: gamma", lesson: "11", group: "training", start: 3,
    stops: [0.5, 1, 2, 3, 4, 5], show: String, when: (s) => s.loss === "focal" },
  { name: "alpha", words: "smoothing: alpha", lesson: "09", group: "training", start: 0.1,
    stops: [0.02, 0.05, 0.1, 0.2, 0.3, 0.5], show: String, when: (s) => s.loss === "smoothing" },
  { name: "weight", words: "penalty: weight", lesson: "09", group: "training", start: 0.1,
    stops: [0.05, 0.1, 0.2, 0.3, 0.5, 1], show: String, when: (s) => s.loss === "penalty" },
  { name: "mixup", words: "mixup: alpha", lesson: "12", group: "training", start: 0,
    stops: [0, 0.1, 0.2, 0.4, 1, 2], show: none(String) },
  { name: "decay", words: "weight decay", lesson: "03", group: "training", start: 1e-4,
    stops: [0, 1e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2], show: none(String) },
  { name: "temperature", words: "temperature", lesson: "08", group: "after", start: "none", live: true,
    choices: { none: "none (T = 1)", fitted: "fitted on 1,000 further images", hand: "by hand" } },
  { name: "T", words: "T by hand", lesson: "08", group: "after", start: 1, live: true,
    stops: Array.from({ length: 46 }, (_, i) => (5 + i) / 10), show: (T) => T.toFixed(1),
    when: (s) => s.temperature === "hand" },
  { name: "testNoise", words: "pixel noise of the new images", lesson: "13", group: "after", start: 0,
    live: true, stops: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
    show: (noise) => noise || "as in training" },
  { name: "seed", words: "seed (another draw of everything)", lesson: "02", group: "after", start: 0,
    stops: Array.from({ length: 20 }, (_, i) => i), show: String },
];

export const defaults = () => Object.fromEntries(SETTINGS.map(({ name, start }) => [name, start]));

export const has = (setting, value) => setting.stops
  ? setting.stops.includes(value) : Object.hasOwn(setting.choices, value);

// A value as it is written beside its control.
export const shown = ({ stops, choices, show }, value) => (stops ? show(value) : choices[value]);

// What differs from the other settings, in words.
export function differences(settings, others) {
  return SETTINGS.filter(({ name, when }) => settings[name] !== others[name]
      && (!when || when(settings) || when(others)))
    .map((setting) => `${setting.words}: ${shown(setting, settings[setting.name])}`);
}

// Whether a training would be another one.
export const retrains = (settings, others) => SETTINGS.some(
  ({ name, live, when }) => !live && settings[name] !== others[name] && (!when || when(settings) || when(others)));

// Whether a setting of the folded groups is not as at the start.
export function changesMore(settings) {
  return SETTINGS.some(({ name, group, start }) => group !== "first" && settings[name] !== start);
}
