// The controls of the settings: a slider or a list each, with a link to its lesson.
import { SETTINGS, shown } from "./settings.js";

// lessons: number -> address of the lesson's page, empty where there is none.
// changed(name, value): called at each move. A setting stands in the element of its group.
// Returns refresh(settings), which shows all values and hides what has no meaning.
export function buildControls(lessons, changed) {
  const built = SETTINGS.map((setting) => {
    const row = document.createElement("div");
    row.className = "setting";
    row.innerHTML = `<label for="set-${setting.name}">${setting.words}</label>
${setting.stops ? "<output></output>" : ""}<a>lesson ${setting.lesson}</a>${controlOf(setting)}`;
    link(row.querySelector("a"), setting, lessons[setting.lesson]);
    document.getElementById(`group-${setting.group}`).append(row);
    const control = row.querySelector("input, select");
    const read = () => (setting.stops ? setting.stops[control.value] : control.value);
    control.addEventListener("input", () => changed(setting.name, read()));
    return { setting, row, control, output: row.querySelector("output") };
  });

  return (settings) => {
    for (const { setting, row, control, output } of built) {
      const value = settings[setting.name];
      control.value = setting.stops ? setting.stops.indexOf(value) : value;
      if (output) {
        output.textContent = shown(setting, value);
        control.setAttribute("aria-valuetext", shown(setting, value));
      }
      row.hidden = Boolean(setting.when) && !setting.when(settings);
    }
  };
}

// Without an address the number of the lesson stands there alone.
function link(place, { words }, address) {
  if (!address) return;
  place.href = address;
  place.insertAdjacentHTML("beforeend", `<span class="hidden-words"> on ${words}</span>`);
}

function controlOf({ name, stops, choices }) {
  if (stops) return `<input type="range" id="set-${name}" min="0" max="${stops.length - 1}" step="1">`;
  const options = Object.entries(choices).map(([value, text]) => `<option value="${value}">${text}</option>`);
  return `<select id="set-${name}">${options.join("")}</select>`;
}
