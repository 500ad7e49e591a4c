// What is typed into a form stays in this tab until the server says that it was taken: it outlasts
// going to another case, a lost connection and a login that has ended.
// Whoever signs in next in this tab is somebody else: what is kept is kept for an account.
import { isTouched } from "./touched.js";

const account = document.querySelector("meta[name=account]")?.content ?? "";
const SENT = "calibrant-sent";

function read(name) {
  try { return sessionStorage.getItem(name); } catch { return null; }
}

function write(name, value) {
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, value);
  } catch { /* a private window keeps nothing */ }
}

// a page that says what was done has come after the form that was sent last
if (document.querySelector("main > .notice.good[role=status]")) write(read(SENT) || SENT, null);
write(SENT, null);

/** Keep the named fields of a form under `where`, and bring back what is there; gives how to keep. */
export function keepTyped(form, where, names) {
  const place = `${where} of ${account}`;
  const keep = () => {
    const typed = [...new FormData(form)].filter(([name]) => names.includes(name));
    write(place, JSON.stringify(Object.fromEntries(typed)));
  };
  let kept = {};
  try { kept = JSON.parse(read(place) || "{}"); } catch { /* nobody can read it: begin anew */ }
  const touched = new Set([...form.elements].filter(isTouched).map((one) => one.name));
  for (const [name, value] of Object.entries(kept).filter(([name]) => !touched.has(name))) {
    for (const field of form.querySelectorAll(`[name=${name}]`)) {
      if (field.type === "radio" || field.type === "checkbox") field.checked = field.value === value;
      else if (!field.value) field.value = value;
    }
  }
  if (touched.size) keep(); // filled in before this script came: newer than what was kept
  form.addEventListener("input", keep);
  form.addEventListener("submit", () => write(SENT, place));
  return keep;
}
