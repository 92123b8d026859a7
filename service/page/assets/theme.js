// The theme: as the system has it, or light or dark by the user's choice. Loaded first, so that no page flashes.

const KEY = "intaglio.theme";
const ORDER = ["system", "light", "dark"];

/** The theme in use. */
export function theme() {
  const stored = localStorage.getItem(KEY);
  return ORDER.includes(stored) ? stored : "system";
}

/** Use a theme from now on. */
export function setTheme(name) {
  if (name === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, name);
  apply();
}

/** The theme that the button changes to. */
export function nextTheme() {
  return ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length];
}

function apply() {
  const name = theme();
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

apply();
