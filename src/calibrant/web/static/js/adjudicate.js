// Adjudicating by keyboard: digits adopt, r writes the reason, Ctrl+Enter settles and goes on.
import { keepTyped } from "./adjudicate_kept.js";
import { acts } from "./keys.js";

const bench = document.querySelector(".bench-grid");
const settle = document.querySelector("form[data-settle]");
const flag = document.querySelector("form[data-flag]");
const first = document.querySelector("form[data-first]");
const form = settle || flag || first;

const choose = (name, value) => {
  const found = form?.querySelector(`[name=${name}][value="${CSS.escape(value)}"]`);
  if (!found) return false;
  found.checked = true;
  found.dispatchEvent(new Event("change", { bubbles: true }));
  return found;
};

/** Where the reviewers have to try first, the digits tell who of them did. */
function tookPart(voice) {
  const box = first.querySelector(`[name=participants][value="${CSS.escape(voice?.dataset.rater ?? "")}"]`);
  if (box) box.checked = !box.checked;
}

function adopt(number) {
  const voice = document.querySelector(`.voice[data-number="${number}"]`);
  if (form === first && first) return tookPart(voice);
  if (!settle || !voice?.dataset.answer || !choose("value", voice.dataset.answer)) return;
  choose("source", "adopted");
  for (const one of document.querySelectorAll(".voice")) one.classList.toggle("adopted", one === voice);
  keep();
}

function follow(event) {
  // an answer chosen by hand is adopted from nobody
  const adopted = document.querySelector(".voice.adopted");
  if (event.target.name === "value" && adopted && adopted.dataset.answer !== event.target.value) {
    adopted.classList.remove("adopted");
    choose("source", "new");
  }
  if (event.target.name === "source" && event.target.value !== "adopted") adopted?.classList.remove("adopted");
}

function tick(name) {
  const box = form?.querySelector(`[name=${name}]`);
  if (box) { box.checked = !box.checked; keep(); }
}

function focus(selector) {
  const found = form?.querySelector(selector);
  if (!found) return false;
  found.focus();
  return true;
}

let sent = false; // a second Ctrl+Enter before the next case has come would settle this one twice
function submit() {
  if (!form || sent || !form.reportValidity()) return;
  sent = true;
  form.requestSubmit();
}
addEventListener("pageshow", () => { sent = false; });

const place = form ? `calibrant-case/${bench.dataset.study}/${form.dataset.key || location.search}` : "";
const FIELDS = ["value", "source", "reason", "error", "unclear", "verdict", "attempt"];
const keep = form ? keepTyped(form, place, FIELDS) : () => {};

function go(where) {
  if (bench.dataset[where]) location.assign(bench.dataset[where]);
}

// arrows move within a group of answers, and only elsewhere from case to case
const inGroup = (event) => event.target.closest?.("input[type=radio]") && event.key.startsWith("Arrow");

for (const button of document.querySelectorAll("[data-adopt]")) {
  button.hidden = false;
  button.addEventListener("click", () => adopt(button.dataset.adopt));
}
form?.addEventListener("change", follow);
acts({
  "next-case": (event) => (inGroup(event) ? false : go("after")),
  "previous-case": (event) => (inGroup(event) ? false : go("before")),
  adopt: (event, key) => adopt(key),
  merge: () => choose("source", "merged") && focus("[name=value]:checked, [name=value]"),
  anew: () => choose("source", "new") && focus("[name=value]:checked, [name=value]"),
  reason: () => focus("[data-reason]"),
  error: () => focus("[name=error]"),
  unclear: () => tick("unclear"),
  confirm: () => choose("verdict", "confirm") && focus("[data-reason]"),
  reject: () => choose("verdict", "reject") && focus("[data-reason]"),
  decide: submit,
}, "adjudicate");
acts({ leave: (event) => { event.target.blur?.(); } });
// on a phone the list of cases would push the case itself off the screen
if (matchMedia("(max-width: 62rem)").matches) document.querySelector(".queue details")?.removeAttribute("open");
// the list moves to the case, and the page stays where somebody may be writing already
const current = document.querySelector(".queue [aria-current]");
for (const list of current ? document.querySelectorAll(".queue, .queue ol") : []) {
  const [seen, place] = [list.getBoundingClientRect(), current.getBoundingClientRect()];
  if (place.bottom > seen.bottom || place.top < seen.top) list.scrollTop += place.top - seen.top;
}
