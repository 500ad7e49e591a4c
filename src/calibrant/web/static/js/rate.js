// The rating page: answers by key, drafts that are never lost, the next item without a new page.
import { local } from "./draft.js";
import { acts } from "./keys.js";
import { taken } from "./rate_ahead.js";
import { openAsk } from "./rate_ask.js";
import { RatePage } from "./rate_page.js";
import { announce } from "./rate_tell.js";

let here = null;

// -- going from item to item

async function show(address, { push = true, submitted = null } = {}) {
  const leaving = here;
  if (!submitted) await leaving?.keeper?.settleDown();
  let page = submitted ? await taken(address, submitted.task) : null;
  try {
    if (!page) {
      const answer = await fetch(address, { headers: { accept: "text/html" } });
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!answer.ok || !page.querySelector("#rate")) { leaving?.end(); location.assign(address); return; }
      address = answer.url;
    }
  } catch {
    leaving?.notice("The next item cannot be loaded: there is no connection. What you have done is kept.", "warn", [["Try again", () => show(address, { push, submitted })]]);
    return;
  }
  leaving?.end();
  const main = document.getElementById("main");
  main.replaceChildren(...page.getElementById("main").childNodes);
  document.title = page.title;
  document.querySelector(".places")?.replaceWith(page.querySelector(".places"));
  if (push) history.pushState({}, "", address);
  scrollTo(0, 0);
  begin(submitted);
  main.dispatchEvent(new CustomEvent("calibrant:shown", { bubbles: true }));
  if (here.at) here.go(here.at);
}

function begin(submitted = null) {
  const root = document.getElementById("rate");
  here = root ? new RatePage(root, { show, run, submitted }) : null;
  if (!here) return;
  if (submitted) {
    here.notice(`${submitted.item} is handed in.`, "good", [["Undo: look at it again (u)", () => here.undo()], ["Close", () => {}]]);
    announce(`${submitted.item} is handed in. Now ${here.item}.`);
  }
}

const toItem = (address, last) => {
  if (address) show(address);
  else if (here) here.notice(last, "");
};
const runs = {
  value: (event, key) => here.answer(key),
  yes: () => here.answer("y"),
  no: () => here.answer("n"),
  na: () => here.answer("a"),
  "previous-criterion": () => here.step(-1),
  "next-criterion": () => here.step(1),
  "previous-item": () => toItem(here.before, "There is no open item before this one."),
  "next-item": () => toItem(here.after, "There is no open item after this one."),
  note: () => here.note(),
  borderline: () => here.borderline(),
  evidence: () => here.picked?.attach(),
  flag: () => here.picked?.toFlags(),
  guidance: () => here.guide(),
  "one-by-one": () => here.oneByOne(),
  ask: () => openAsk(here),
  undo: () => here.undo(),
  submit: () => here.submit(),
  save: () => here.keeper?.save(),
};

/** What a button does is what its key does. */
const run = (act, event) => runs[act]?.(event, "");

local.prune();
begin();
if (here) {
  acts(Object.fromEntries(Object.entries(runs).map(([act, run]) => [act, (event, key) => (here ? run(event, key) : false)])), "rate");
  acts({ leave: () => {
    const field = document.activeElement;
    if (!field?.matches?.("input, textarea, select")) return false;
    field.blur();
    here?.at?.focus({ preventScroll: true });
  } });
  history.replaceState({}, "", here.mode === "rate" ? `/s/${here.study}/rate/${here.task}` : location.href);
  addEventListener("popstate", () => show(location.href, { push: false }));
}
