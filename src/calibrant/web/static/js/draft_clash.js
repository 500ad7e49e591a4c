// Two versions of one draft, side by side: the person chooses field by field, nothing is lost.

const words = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });

function side(row, name, value, text, checked) {
  const cell = document.createElement("td");
  const label = document.createElement("label");
  label.className = "clash-side";
  const input = Object.assign(document.createElement("input"), { type: "radio", name, value, checked });
  const said = words("span", text || "nothing", { dir: "auto", className: text ? "" : "soft" });
  label.append(input, said);
  cell.append(label);
  row.append(cell);
}

function button(text, run, primary = false) {
  const made = words("button", text, { type: "button", className: primary ? "primary" : "" });
  made.addEventListener("click", run);
  return made;
}

/**
 * Show both versions. `choose(fields)` is called with the fields to be taken from there;
 * for a rating that is handed in, `leave()` or `correct()`.
 */
export function showClash(dialog, body, { choose, leave, correct }) {
  const done = body.state === "done";
  dialog.querySelector("#clash-words").textContent = done
    ? "This item is handed in already, perhaps from another tab. Here is what you have typed, and what was handed in."
    : "This draft was saved from another tab or computer since you opened it. Choose what to keep; nothing has been replaced.";
  const rows = dialog.querySelector("#clash-rows");
  rows.replaceChildren();
  body.differences.forEach((one, at) => {
    const row = document.createElement("tr");
    row.append(words("th", one.label, { scope: "row" }));
    if (done) row.append(words("td", one.mine, { dir: "auto" }), words("td", one.theirs, { dir: "auto" }));
    else {
      side(row, `clash-${at}`, "here", one.mine, Boolean(one.mine));
      side(row, `clash-${at}`, "there", one.theirs, !one.mine);
    }
    row.dataset.field = one.field;
    rows.append(row);
  });
  const acts = dialog.querySelector("#clash-acts");
  const end = (run) => () => { dialog.close(); run(); };
  const chosen = () => [...rows.children].filter((row) => row.querySelector("input[value=there]")?.checked).map((row) => row.dataset.field);
  const all = () => [...rows.children].map((row) => row.dataset.field);
  if (done) acts.replaceChildren(button("Leave it as handed in", end(leave), true), button("Correct it with what is here", end(correct)));
  else {
    acts.replaceChildren(
      button("Keep what is chosen", () => { const fields = chosen(); dialog.close(); choose(fields); }, true),
      button("Take everything from there", () => { const fields = all(); dialog.close(); choose(fields); }),
    );
  }
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  if (!dialog.open) dialog.showModal();
}
