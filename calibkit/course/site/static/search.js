// Excerpts beside the results of a search. Sphinx would fetch each page for its own, which browsers
// forbid without a server; here the words of all pages lie in excerpts.js.
const LONG = 220; // letters of an excerpt

async function words(packed) {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Where the first of the terms stands in a text, from a section's heading on; -1 where none does.
function found(text, terms, heading) {
  const low = text.toLowerCase();
  const from = heading ? Math.max(low.indexOf(heading.toLowerCase()), 0) : 0;
  const stems = terms.map((term) => term.slice(0, Math.max(4, term.length - 3)));
  for (const [tried, start] of [[terms, from], [terms, 0], [stems, from], [stems, 0]]) {
    const places = tried.map((term) => low.indexOf(term, start)).filter((place) => place >= 0);
    if (places.length) return Math.min(...places);
  }
  return -1;
}

function excerpt(text, terms, heading) {
  const place = found(text, terms, heading);
  const begin = place < LONG / 2 ? 0 : text.lastIndexOf(" ", place - LONG / 3) + 1;
  const end = text.indexOf(" ", begin + LONG), part = text.slice(begin, end < 0 ? undefined : end);
  const line = document.createElement("p");
  line.className = "context";
  line.append(begin ? "… " : "");
  const pattern = terms.map((term) => term.replace(/[^\p{L}\p{N}]/gu, "\\$&")).join("|");
  part.split(new RegExp(`(${pattern})`, "iu")).forEach((piece, i) => {
    const node = i % 2 ? document.createElement("mark") : document.createTextNode(piece);
    if (i % 2) node.textContent = piece;
    line.append(node);
  });
  line.append(end < 0 ? "" : " …");
  return line;
}

words(window.EXCERPTS).then((texts) => {
  const asked = new URLSearchParams(location.search).get("q") ?? "";
  const terms = asked.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const results = document.getElementById("search-results");
  if (asked) document.querySelector("h1").textContent = `Search: “${asked}”`;
  const add = () => {
    for (const item of results.querySelectorAll(".search > li:not([data-told])")) {
      item.dataset.told = "yes";
      const link = item.querySelector("a"), page = new URL(link.href);
      const name = decodeURIComponent(page.pathname).replace(/\.html$/, "").split("/");
      const text = texts[name.slice(-2).join("/")] ?? texts[name.at(-1)];
      const heading = page.hash ? link.textContent.split(" > ").at(-1) : "";
      if (text && terms.length) item.append(excerpt(text, terms, heading));
    }
  };
  new MutationObserver(add).observe(results, { childList: true, subtree: true });
  add();
});
