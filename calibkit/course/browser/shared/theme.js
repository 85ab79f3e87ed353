// The switch between light and dark. The pages of the site keep the choice under the same name.
const NAME = "theme", MODES = ["auto", "light", "dark"]; // auto: as the system has it, see theme.css

// button: shows the choice, and goes on to the next one.
export function buildThemeSwitch(button) {
  let mode = kept();
  const show = () => {
    document.body.dataset.theme = mode;
    button.textContent = `Theme: ${mode}`;
    button.setAttribute("aria-label", `Theme: ${mode}, press to change`);
  };
  button.addEventListener("click", () => {
    mode = next(mode, matchMedia("(prefers-color-scheme: dark)").matches);
    keep(mode);
    show();
  });
  show();
}

// The first press changes what is seen.
function next(mode, darkSystem) {
  const order = darkSystem ? MODES : ["auto", "dark", "light"];
  return order[(order.indexOf(mode) + 1) % order.length];
}

function kept() {
  try {
    const mode = localStorage.getItem(NAME);
    return MODES.includes(mode) ? mode : "auto";
  } catch { // a browser may give no storage to a page that was opened from a file
    return "auto";
  }
}

function keep(mode) {
  try {
    localStorage.setItem(NAME, mode);
  } catch {
    // the choice then holds for this visit
  }
}
