// The line to embed a slider begins with the address under which this site is read.
document.querySelectorAll("details.embed code").forEach((line) => {
  if (!location.protocol.startsWith("http")) return;
  const home = new URL(".", location.href).href;
  line.textContent = line.textContent.replace('src="embed/', `src="${home}embed/`);
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
