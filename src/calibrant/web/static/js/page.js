// What every page does: the theme, the sheet of keys, times in the reader's own zone, the place in view.
import { acts } from "./keys.js";

const THEME = "calibrant-theme";

function applyTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
}

function remembered(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

function switchTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  applyTheme(next);
  try { localStorage.setItem(THEME, next); } catch { /* nothing is kept in a private window */ }
}

function localTimes(root) {
  for (const one of root.querySelectorAll("time[datetime]")) {
    const at = new Date(one.dateTime);
    if (Number.isNaN(at.valueOf())) continue;
    one.title = one.textContent;
    one.textContent = at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
}

function showPlace() {
  // On a narrow screen the places of a study are one line that moves sideways.
  const here = document.querySelector(".places [aria-current]");
  const line = here?.closest("ul");
  if (line) line.scrollLeft = here.offsetLeft - (line.clientWidth - here.offsetWidth) / 2;
}

function confirmFirst(event) {
  const question = event.target.dataset?.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
}

applyTheme(remembered(THEME));
localTimes(document);
showPlace();
addEventListener("resize", showPlace);
document.addEventListener("submit", confirmFirst);
document.addEventListener("calibrant:shown", (event) => localTimes(event.target));
for (const [act, run] of [["theme", switchTheme], ["help", () => document.getElementById("keys").showModal()]]) {
  for (const button of document.querySelectorAll(`[data-act=${act}]`)) {
    button.hidden = false;
    button.addEventListener("click", run);
  }
}
acts({ help: () => document.getElementById("keys").showModal() });
