// A rubric is checked while it is typed: mistakes with their lines, or the form as raters see it.
// What is typed is also kept in this browser, so that a closed tab loses nothing.
const text = document.querySelector("[data-yaml]");
const lines = document.querySelector("[data-lines]");
const found = document.querySelector("[data-found]");
const state = document.querySelector("[data-state]");
const csrf = document.querySelector("meta[name=csrf]").content;
// of one person, and of what is written on: others who use this browser write rubrics too
const account = document.querySelector("meta[name=account]").content;
const KEPT = `calibrant:rubric:${account}:${text.dataset.yaml}`;
let waiting = 0;
let asked = 0;

function number() {
  const count = text.value.split("\n").length;
  const wrong = new Set([...found.querySelectorAll("[data-line]")].map((one) => Number(one.dataset.line)));
  const parts = [];
  for (let at = 1; at <= count; at += 1) {
    const part = document.createElement("span");
    if (wrong.has(at)) part.className = "faulty";
    part.textContent = `${at}\n`;
    parts.push(part);
  }
  lines.replaceChildren(...parts);
  lines.scrollTop = text.scrollTop;
}

async function check() {
  const mine = ++asked;
  state.textContent = "Checking…";
  const body = new URLSearchParams({ yaml: text.value });
  try {
    const answer = await fetch("/rubrics/check", { method: "POST", body, headers: { "X-Calibrant-Csrf": csrf } });
    if (!answer.ok) throw new Error(String(answer.status));
    const html = await answer.text();
    if (mine !== asked) return; // something newer was typed
    found.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
    state.textContent = found.querySelector(".faults") ? "There are mistakes." : "No mistakes.";
  } catch {
    if (mine === asked) state.textContent = "Could not be checked just now; nothing is lost.";
  }
  number();
}

function keep() {
  try { localStorage.setItem(KEPT, text.value); } catch { /* a private window keeps nothing */ }
}

text.addEventListener("input", () => {
  number();
  keep();
  clearTimeout(waiting);
  waiting = setTimeout(check, 500);
});
text.addEventListener("scroll", () => { lines.scrollTop = text.scrollTop; });
found.addEventListener("click", (event) => {
  const link = event.target.closest("[data-line]");
  if (!link) return;
  event.preventDefault();
  const before = text.value.split("\n").slice(0, link.dataset.line - 1).join("\n").length;
  const from = link.dataset.line === "1" ? 0 : before + 1;
  const end = text.value.indexOf("\n", from);
  text.focus();
  text.setSelectionRange(from, end < 0 ? text.value.length : end);
  const high = text.scrollHeight / text.value.split("\n").length;
  text.scrollTop = Math.max(0, (link.dataset.line - 6) * high);
});

/** What was typed here and is not what the page came with: put back, or taken away again. */
function offer() {
  let other = null;
  try { other = localStorage.getItem(KEPT); } catch { /* nothing is kept */ }
  if (!other?.trim() || other === text.value) return;
  const button = document.createElement("button");
  const names = ["Bring back what I wrote last time", "Put back what stood here"];
  button.type = "button";
  button.textContent = names[0];
  button.addEventListener("click", () => {
    [text.value, other] = [other, text.value];
    button.textContent = names.reverse()[0];
    keep();
    check();
  });
  state.closest("p").before(button);
}
offer();
number();
if (text.value !== text.defaultValue) { keep(); check(); } // typed before this script came
