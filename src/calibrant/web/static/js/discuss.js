// Talking a disagreement over by keyboard: c comments, r writes the outcome, Ctrl+Enter sends.
import { keepTyped } from "./adjudicate_kept.js";
import { acts } from "./keys.js";

const bench = document.querySelector(".talk-grid");
const go = (where) => { if (bench.dataset[where]) location.assign(bench.dataset[where]); };
const inGroup = (event) => event.target.closest?.("input[type=radio]") && event.key.startsWith("Arrow");

function send(event) {
  const form = event.target.closest?.("form");
  if (!form || !form.reportValidity()) return;
  form.requestSubmit(form.querySelector("button.primary") || form.querySelector("button"));
}

for (const [at, form] of [...bench.querySelectorAll("form")].entries()) {
  keepTyped(form, `calibrant-talk${location.pathname}${location.search}/${at}`, ["text", "outcome", "value", "unclear"]);
}
acts({
  "next-dispute": (event) => (inGroup(event) ? false : go("after")),
  "previous-dispute": (event) => (inGroup(event) ? false : go("before")),
  comment: () => document.getElementById("text").focus(),
  outcome: () => document.getElementById("outcome").focus(),
  send,
}, "discuss");
acts({ leave: (event) => { event.target.blur?.(); } });
