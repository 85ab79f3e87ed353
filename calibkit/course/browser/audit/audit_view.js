// Puts the numbers of an audit on the page.
import { classSection, coverageSection, groupSection, methodSection, mistakeSection } from "./tables.js";
import { drawDiagram, drawGaps, drawRisk } from "./pictures_of_audit.js";
import { eventSection, headline, measuresSection, temperatureSection, testSection, warnings } from "./sections.js";

const at = (id) => document.getElementById(id);

// shown: of the worker; ofHits: whether rows are right or not, without classes. command: makes the whole page.
export function showAudit({ numbers, told, ofHits, means, cooled, risk }, command) {
  const { binary, groups, bins, temperature } = numbers, misfit = Boolean(temperature.misfit);
  at("title").textContent = `Calibration audit of ${numbers.name}`;
  at("told").textContent = `${told.slice(0, 1).toUpperCase()}${told.slice(1)}.`;
  at("lead").innerHTML = headline(numbers, ofHits) + warnings(numbers);
  drawDiagram(at("picture-before"), numbers.diagram, bins, "as it is");
  at("picture-after").innerHTML = "";
  if (cooled) drawDiagram(at("picture-after"), cooled, bins, `after temperature ${temperature.value.toFixed(2)}`);
  at("test").innerHTML = '<p class="note">Drawing 1,000 samples of a calibrated model …</p>';
  at("rest").innerHTML = [
    binary ? `<section id="event">${eventSection(numbers, misfit)}</section>` : "",
    measuresSection(numbers), temperatureSection(numbers, means, ofHits),
    ofHits ? "" : classSection(numbers),
    groups ? groupSection(numbers) + '<div class="picture wide" id="picture-gaps"></div>' : "",
    coverageSection(numbers), mistakeSection(numbers), methodSection(numbers, command),
  ].join("\n");
  drawRisk(at("picture-risk"), risk);
  if (groups) drawGaps(at("picture-gaps"), groups);
  if (binary) drawEvent(numbers);
  at("result").hidden = false;
}

function drawEvent({ binary, bins }) {
  drawDiagram(at("picture-event"), binary.diagram, bins, `P(${binary.event})`, true);
}

// The same with the numbers of the test.
export function showTest(numbers) {
  at("test").innerHTML = testSection(numbers);
  if (!numbers.binary) return;
  at("event").innerHTML = eventSection(numbers, Boolean(numbers.temperature.misfit));
  drawEvent(numbers);
}

// What a screen reader is told of it.
export function spoken({ name, samples, measures: { accuracy, confidence, ece } }) {
  const percent = ({ value }) => `${(100 * value).toFixed(1)} %`;
  return `Audit of ${name}: ${samples} samples, right in ${percent(accuracy)}, says ${percent(confidence)}, `
    + `ECE ${percent(ece)}.`;
}
