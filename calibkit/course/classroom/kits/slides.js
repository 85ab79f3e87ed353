// Moves through the slides: arrow keys, Page Up and Down, space, Home and End; N shows the notes.
// The number of the slide stands after the # of the address, so that a reload stays where one is.
"use strict";
const slides = [...document.querySelectorAll(".slide")];
document.body.classList.add("slides");

function show(place) {
  const now = Math.min(Math.max(place, 0), slides.length - 1);
  slides.forEach((slide, at) => slide.classList.toggle("now", at === now));
  if (location.hash !== `#${now + 1}`) history.replaceState(null, "", `#${now + 1}`);
}

const current = () => slides.findIndex((slide) => slide.classList.contains("now"));
const addressed = () => show((parseInt(location.hash.slice(1), 10) || 1) - 1);
const STEPS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key in STEPS) {
    event.preventDefault();
    show(current() + (event.key === " " && event.shiftKey ? -1 : STEPS[event.key]));
  } else if (event.key === "Home") show(0);
  else if (event.key === "End") show(slides.length - 1);
  else if (event.key.toLowerCase() === "n") {
    for (const notes of document.querySelectorAll(".notes")) notes.hidden = !notes.hidden;
  }
});
addEventListener("hashchange", addressed);
addressed();
