// Moves through the slides: arrow keys, Page Up and Down, space, Home and End. N opens the notes of
// the slide in a window of their own, which follows the slides, so that the room does not read them.
// The number of the slide stands after the # of the address, so that a reload stays where one is.
"use strict";
const slides = [...document.querySelectorAll(".slide")];
document.body.classList.add("slides");
let aside = null;

function show(place) {
  const now = Math.min(Math.max(place, 0), slides.length - 1);
  slides.forEach((slide, at) => slide.classList.toggle("now", at === now));
  if (location.hash !== `#${now + 1}`) history.replaceState(null, "", `#${now + 1}`);
  if (aside && !aside.closed) tell(slides[now]);
}

function tell(slide) {
  const page = aside.document, notes = slide.querySelector(".notes");
  const heading = page.createElement("h2");
  heading.textContent = `${slide.id}. ${slide.querySelector("h2").textContent}`;
  page.body.replaceChildren(heading, ...(notes ? notes.cloneNode(true).childNodes : []));
  for (const link of page.querySelectorAll("a")) link.target = "_blank";
}

function openNotes() {
  aside = open("", "", "popup,width=640,height=480");
  if (!aside) return;
  aside.document.title = "Notes for the speaker";
  aside.document.body.style.font = "1.2rem/1.5 sans-serif";
  aside.document.addEventListener("keydown", pressed);
  tell(slides[current()]);
}

const current = () => slides.findIndex((slide) => slide.classList.contains("now"));
const addressed = () => show((parseInt(location.hash.slice(1), 10) || 1) - 1);
const STEPS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };

function pressed(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key in STEPS) {
    event.preventDefault();
    show(current() + (event.key === " " && event.shiftKey ? -1 : STEPS[event.key]));
  } else if (event.key === "Home") show(0);
  else if (event.key === "End") show(slides.length - 1);
  else if (event.key.toLowerCase() === "n") openNotes();
}
document.addEventListener("keydown", pressed);
addEventListener("hashchange", addressed);
addressed();
