// All settings in the address of the page: what is not as at the start stands after the #.
// So a link holds an experiment: play.html#images=300&wrong=0.4
import { SETTINGS, defaults, has } from "./settings.js";

export function toHash(settings) {
  const pairs = SETTINGS.filter(({ name, start }) => settings[name] !== start)
    .map(({ name }) => `${name}=${encodeURIComponent(settings[name])}`);
  return pairs.length ? `#${pairs.join("&")}` : "";
}

// The settings of an address; a slider goes to the stop that is nearest, and what is unknown stays.
export function fromHash(hash) {
  const settings = defaults(), given = new URLSearchParams(hash.replace(/^#/, ""));
  for (const setting of SETTINGS) {
    const text = given.get(setting.name);
    if (text === null) continue;
    if (setting.choices && has(setting, text)) settings[setting.name] = text;
    if (setting.stops && text.trim() && Number.isFinite(Number(text))) {
      settings[setting.name] = nearest(setting.stops, Number(text));
    }
  }
  return settings;
}

function nearest(stops, value) {
  return stops.reduce((best, stop) => (Math.abs(stop - value) < Math.abs(best - value) ? stop : best));
}
