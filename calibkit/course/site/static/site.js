// Where the screen is narrow, menu and contents are drawers that the theme opens by labels, which no
// key reaches: buttons in their place. Without scripts the labels stay.
const drawers = [["__navigation", ".sidebar-drawer"], ["__toc", ".toc-drawer"]].map(([id, name]) => {
  const box = document.getElementById(id), drawer = document.querySelector(name);
  const told = (button) => button.setAttribute("aria-expanded", box.checked);
  const buttons = [...document.querySelectorAll(`label[for=${id}]:not(.overlay)`)].map((label) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: label.className });
    button.setAttribute("aria-label", drawer.getAttribute("aria-label"));
    button.append(...label.childNodes);
    button.addEventListener("click", () => {
      box.checked = !box.checked;
      box.dispatchEvent(new Event("change"));
      const links = box.checked ? [...drawer.querySelectorAll("a")] : [];
      links.find((link) => link.offsetWidth)?.focus();
    });
    told(button);
    label.replaceWith(button);
    return button;
  });
  box.addEventListener("change", () => buttons.forEach(told)); // the area beside a drawer closes it
  return { box, buttons };
});
addEventListener("keydown", ({ key }) => {
  const open = drawers.find(({ box }) => box.checked);
  if (key !== "Escape" || !open) return;
  open.box.checked = false;
  open.box.dispatchEvent(new Event("change"));
  open.buttons.find((button) => button.offsetWidth)?.focus();
});

// Sphinx marks the words of a search in the page that is opened, and stops with an error at the
// titles of pictures. It finds no words to mark here.
try {
  localStorage.removeItem("sphinx_highlight_terms");
} catch { /* without storage nothing is marked */ }

// The sidebar begins where this page stands in it.
const here = document.querySelector(".sidebar-tree .current-page > .reference");
const list = document.querySelector(".sidebar-scroll");
if (here) {
  list.scrollTop += here.getBoundingClientRect().top - list.clientHeight / 2;
  const top = list.getBoundingClientRect().top; // no line is cut there
  const first = [...list.querySelectorAll(".reference, .caption")]
    .find((line) => line.getBoundingClientRect().bottom > top);
  list.scrollTop += first.getBoundingClientRect().top - top - 4;
}

// Code that is wider than its box scrolls there, by the arrow keys, too.
const widths = new ResizeObserver((boxes) => boxes.forEach(({ target }) => {
  const scrolls = target.scrollWidth > target.clientWidth;
  const told = { tabindex: "0", role: "group", "aria-label": "Code, scrolls sideways" };
  for (const name of Object.keys(told)) {
    if (scrolls) target.setAttribute(name, told[name]);
    else target.removeAttribute(name);
  }
}));
document.querySelectorAll("article pre:not([tabindex])").forEach((code) => widths.observe(code));

// The line to embed a slider begins with the address under which this site is read.
document.querySelectorAll(".embed pre code").forEach((line) => {
  if (!location.protocol.startsWith("http")) return;
  const home = new URL(".", location.href).href;
  line.textContent = line.textContent.replace("ADDRESS/", home);
  line.closest(".embed").querySelector(".address").remove();
});

// The verdicts of one word, of all lessons. Without scripts they stand lesson by lesson.
const filter = document.querySelector("fieldset.filter");
if (filter) filter.hidden = false;
filter?.addEventListener("change", () => {
  const word = filter.querySelector(":checked").value;
  document.querySelectorAll("details.verdicts").forEach((lesson) => {
    const rows = [...lesson.querySelectorAll("tbody tr")];
    rows.forEach((row) => { row.hidden = word && !row.classList.contains(word); });
    lesson.open = Boolean(word);
    lesson.closest("section").hidden = rows.every((row) => row.hidden);
  });
});

// The landing page: the gap of the network that was chosen in the picture of all networks.
const gap = document.querySelector(".landing .gap");
if (gap) addEventListener("chosen", ({ detail: { sure, right } }) => {
  const off = sure - right, written = (thousandths) => (thousandths / 10).toFixed(1);
  const names = off > 0 ? "over-confident" : "under-confident";
  const about = Math.abs(off) < 10; // less than a point
  gap.querySelector(".sure").textContent = written(sure);
  gap.querySelector(".right").textContent = written(right);
  gap.querySelector(".off").textContent = `${off > 0 ? "+" : off < 0 ? "−" : ""}${written(Math.abs(off))}`;
  gap.querySelector(".off + span").textContent =
    `points: the gap. It is ${about ? "about as sure as right" : names}.`;
});

// The graph of prerequisites: a lesson with all before it, or a way through.
const graph = document.querySelector("svg.graph");
const light = (numbers) => {
  graph.classList.toggle("lit", Boolean(numbers));
  graph.querySelectorAll(".lesson").forEach((one) => {
    one.classList.toggle("on", Boolean(numbers?.has(one.dataset.number)));
  });
  graph.querySelectorAll(".arrow").forEach((one) => {
    const both = numbers?.has(one.dataset.from) && numbers.has(one.dataset.to);
    one.classList.toggle("on", Boolean(both));
  });
};
const lights = (part, numbers) => {
  for (const begin of ["pointerenter", "focusin"]) part.addEventListener(begin, () => light(numbers));
  for (const end of ["pointerleave", "focusout"]) part.addEventListener(end, () => light(null));
};
if (graph) {
  graph.querySelectorAll(".lesson").forEach((one) => {
    lights(one, new Set([one.dataset.number, ...one.dataset.before.split(" ")]));
  });
  document.querySelectorAll(".tracks li").forEach((way) => {
    lights(way, new Set(way.dataset.lessons.split(" ")));
  });
}
