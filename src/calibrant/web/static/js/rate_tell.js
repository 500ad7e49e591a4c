// What the rating page says: to those who see it, to those who hear it, and what it remembers.

const announcer = Object.assign(document.createElement("div"), { className: "unseen", role: "status" });
document.body.append(announcer);

/** Say something to whoever listens to the page. */
export const announce = (text) => { announcer.textContent = text; };

/** A word beside what is saved, in sight wherever one is; the next change takes it away. */
export function hint(root, text) {
  const place = root.querySelector("#answered");
  if (place) place.textContent = text;
  place?.classList.add("hinted");
  announce(text);
}

/** A notice above the form, with buttons that close it and do something. */
export function notice(root, text, kind = "", buttons = []) {
  const place = root.querySelector("#rate-notices");
  const made = Object.assign(document.createElement("div"), { className: `notice ${kind}` });
  made.append(Object.assign(document.createElement("p"), { textContent: text }));
  const row = Object.assign(document.createElement("p"), { className: "row" });
  for (const [label, run] of buttons.length ? buttons : [["Close", () => {}]]) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: label });
    button.addEventListener("click", () => { made.remove(); run(); });
    row.append(button);
  }
  made.append(row);
  place.replaceChildren(made);
}

/** What this browser keeps of how somebody likes the page. */
export const remembered = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
export const remember = (name, value) => { try { localStorage.setItem(name, value); } catch { /* a private window forgets */ } };
