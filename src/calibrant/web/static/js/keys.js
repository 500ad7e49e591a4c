// Keys become acts by the table that the server keeps (/keys.json): pages say what acts do.
// No key acts while somebody types into a field, holds Alt or Meta, or a dialog is open.

const table = fetch("/keys.json").then((answer) => answer.json());
const TYPING = "input:not([type=radio]):not([type=checkbox]):not([type=button]), textarea, select, [contenteditable]";

function nameOf(event) {
  const held = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
  return held + event.key;
}

/** Run acts by their keys: `acts({submit: () => …}, "rate")`; returns how to stop. */
export function acts(runs, where = "all") {
  let rows = [];
  table.then((all) => { rows = all.filter((row) => row.where === where && row.act in runs); });
  const listen = (event) => {
    if (event.altKey || event.isComposing || event.defaultPrevented) return;
    const name = nameOf(event);
    const row = rows.find((one) => one.keys.includes(name) || one.keys.includes(name.toLowerCase()));
    if (!row) return;
    const typing = event.target.closest?.(TYPING);
    if (typing && !name.startsWith("Ctrl+") && name !== "Escape") return;
    if (document.querySelector("dialog[open]") && name !== "Escape") return;
    if (runs[row.act](event, event.key) !== false) event.preventDefault();
  };
  document.addEventListener("keydown", listen);
  return () => document.removeEventListener("keydown", listen);
}
