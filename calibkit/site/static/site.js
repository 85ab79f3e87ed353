// The line to embed a slider begins with the address under which this site is read.
document.querySelectorAll("details.embed code").forEach((line) => {
  if (!location.protocol.startsWith("http")) return;
  const home = new URL(".", location.href).href;
  line.textContent = line.textContent.replace('src="embed/', `src="${home}embed/`);
});
