// What has to be put right before a rating is taken: told beside its fields.
import { unfold } from "./rate_walk.js";

/** Say beside each field what is wrong with it, and nothing beside the others. */
export function showWrong(root, told) {
  for (const one of root.querySelectorAll(".wrong[id^=wrong-]")) {
    const texts = told[one.id.slice(6)] ?? [];
    one.replaceChildren(...texts.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
  }
  if (!Object.keys(told).length) root.querySelector("#rate-notices .bad")?.remove();
}

/** What was wrong with a field that is being mended is no longer said. */
export function nowRight(name) {
  document.getElementById(`wrong-${name.replace("flag_evidence", "flags")}`)?.replaceChildren();
}

/** Tell every fault in its place, and go to the first. */
export function showFaults(page, faults) {
  const told = {};
  for (const one of faults) (told[one.field] ??= []).push(one.sentence || one.message);
  showWrong(page.root, told);
  const count = faults.length === 1 ? "one thing" : `${faults.length} things`;
  const general = told[""] ? ` ${told[""].join(" ")}` : "";
  const text = `Not handed in yet: ${count} to put right.${general}`;
  page.notice(text, "bad");
  page.hint(text);
  const first = page.root.querySelector(".wrong[id^=wrong-]:not(:empty)");
  if (!first) return;
  unfold(first);
  const criterion = first.closest("fieldset.criterion");
  const name = first.id.slice(6);
  const field = name.startsWith("answers.") ? null : page.form.querySelector(`[name="${CSS.escape(name)}"]`);
  if (criterion) page.go(criterion);
  if (field) field.focus();
  else if (!criterion) first.scrollIntoView({ block: "nearest" });
}
