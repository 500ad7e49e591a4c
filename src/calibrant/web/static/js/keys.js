// Keys become acts by the sheet of keys that is on every page: scripts say what acts do.
// No key acts while somebody types into a field, holds Alt, or a dialog is open.

const table = [...document.querySelectorAll("#keys [data-act]")].map(({ dataset }) => (
  { act: dataset.act, where: dataset.where, keys: dataset.keys.split(" ") }
));
const TYPING = "input:not([type=radio]):not([type=checkbox]):not([type=button]), textarea, select, [contenteditable]";
const MAY_REPEAT = /^Arrow|^[jk]$/;

function namesOf(event) {
  const held = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
  return [held + event.key, held + event.key.toLowerCase()];
}

/** Run acts by their keys: `acts({submit: () => …}, "rate")`; returns how to stop. */
export function acts(runs, where = "all") {
  const rows = table.filter((row) => row.where === where && row.act in runs);
  const listen = (event) => {
    if (event.altKey || event.isComposing || event.defaultPrevented) return;
    const names = namesOf(event);
    const row = rows.find((one) => names.some((name) => one.keys.includes(name)));
    if (!row) return;
    const typing = event.target.closest?.(TYPING);
    if (typing && !names[0].startsWith("Ctrl+") && event.key !== "Escape") return;
    if (document.querySelector("dialog[open]") && event.key !== "Escape") return;
    if (event.repeat && !MAY_REPEAT.test(event.key)) { event.preventDefault(); return; }
    if (runs[row.act](event, event.key) !== false) event.preventDefault();
  };
  document.addEventListener("keydown", listen);
  if (where !== "all") document.body.classList.add("keyed");
  return () => document.removeEventListener("keydown", listen);
}
