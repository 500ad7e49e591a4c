// The rating form as data and back: the same names as the server reads (web/forms.py).
import { isTouched } from "./touched.js";

const TEXTS = ["note", "edge_case", "review"];
const BESIDE = ["answers", "notes", "evidence", "tags", "sub_answers"];

function put(form, field, key, value) {
  (form[field] ??= {})[key] = value;
}

/** What the form says, without what is empty. */
export function readForm(element) {
  const form = {};
  const flags = new Map();
  for (const [name, raw] of new FormData(element)) {
    if (typeof raw !== "string") continue;
    const value = raw.replaceAll("\r\n", "\n").trim();
    if (!value) continue;
    const [field, key, more] = name.split(".");
    if (field === "answers" || field === "notes") put(form, field, key, value);
    else if (field === "borderline") (form.borderline ??= []).push(key);
    else if (field === "evidence" || field === "tags") putInto(form, field, key, value);
    else if (field === "sub_answers") ((form.sub_answers ??= {})[key] ??= {})[more] = value;
    else if (field === "flags") flags.set(key, flags.get(key) ?? []);
    else if (field === "sitting") put(form, "sitting", key, key === "position" ? Number(value) : value);
    else if (name === "shown") (form.shown ??= []).push(value);
    else if (TEXTS.includes(name)) form[name] = value;
  }
  for (const [flag, quotes] of flags) {
    quotes.push(...quotesOf(element, `flag_evidence.${flag}`));
    (form.flags ??= []).push({ flag, evidence: quotes });
  }
  return form;
}

/** What the form said when the page came. */
export function asSent(element) {
  const came = element.cloneNode(true);
  came.reset();
  return readForm(came);
}

/** The fields that somebody has filled in since the page came, as `merged` takes them. */
export function touchedFields(element) {
  const names = [...element.elements].filter((one) => one.name && isTouched(one)).map((one) => one.name);
  return [...new Set(names.map((one) => one.replace(/^flag_evidence\./, "flags.")))];
}

function putInto(form, field, key, value) {
  const listed = ((form[field] ??= {})[key] ??= []);
  if (!listed.includes(value)) listed.push(value);
}

function quotesOf(element, name) {
  const found = new FormData(element).getAll(name).map((one) => one.trim());
  return [...new Set(found)].filter(Boolean);
}

// what is in a field already is left alone, with its spaces: somebody may be typing there
function say(field, text) {
  if (field.value.trim() !== text) field.value = text;
}

/** Make the form say this, field by field; what it does not name is emptied. */
export function writeForm(element, form) {
  for (const one of element.elements) {
    const [field, key, more] = (one.name || "").split(".");
    if (field === "answers") one.checked = String(form.answers?.[key] ?? "") === one.value;
    else if (field === "notes") say(one, form.notes?.[key] ?? "");
    else if (field === "borderline") one.checked = (form.borderline ?? []).includes(key);
    else if (field === "tags") one.checked = (form.tags?.[key] ?? []).includes(one.value);
    else if (field === "flags") one.checked = (form.flags ?? []).some((flag) => flag.flag === key);
    else if (field === "sub_answers") {
      const said = form.sub_answers?.[key]?.[more] ?? "";
      if (one.type === "radio") one.checked = one.value === said;
      else say(one, said);
    } else if (TEXTS.includes(one.name)) say(one, form[one.name] ?? "");
  }
  for (const box of element.querySelectorAll("[data-quotes]")) {
    const [field, key] = box.dataset.quotes.split(".");
    const flag = (form.flags ?? []).find((one) => one.flag === key);
    const quotes = field === "evidence" ? form.evidence?.[key] : flag?.evidence;
    setQuotes(box, quotes ?? []);
  }
}

/** What a form says, in a form that compares: the sitting and what was shown are no part of it. */
export function sameText(form) {
  const { sitting, shown, ...said } = form;
  return JSON.stringify(sorted(said));
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!value || typeof value !== "object") return value;
  const kept = Object.keys(value).sort().filter((key) => !isEmpty(value[key]));
  return Object.fromEntries(kept.map((key) => [key, sorted(value[key])]));
}

const isEmpty = (value) => value === "" || value == null || (typeof value === "object" && !Object.keys(value).length);

/** One form with single fields taken from another; fields are named as on the page. */
export function merged(mine, theirs, fields) {
  const form = structuredClone(mine);
  for (const name of fields) {
    const [field, key, more] = name.split(".");
    if (field === "flags") form.flags = withFlag(form.flags ?? [], theirs.flags ?? [], key);
    else if (field === "borderline") {
      const others = (form.borderline ?? []).filter((one) => one !== key);
      form.borderline = (theirs.borderline ?? []).includes(key) ? [...others, key] : others;
    } else if (field === "sub_answers") {
      ((form.sub_answers ??= {})[key] ??= {})[more] = theirs.sub_answers?.[key]?.[more] ?? "";
    } else if (BESIDE.includes(field)) put(form, field, key, theirs[field]?.[key] ?? "");
    else form[field] = theirs[field] ?? "";
  }
  return form;
}

function withFlag(mine, theirs, key) {
  const others = mine.filter((one) => one.flag !== key);
  return [...others, ...theirs.filter((one) => one.flag === key)];
}

// -- quotations: one text field each

function setQuotes(box, quotes) {
  for (const one of box.querySelectorAll(".quote:not(.quote-new)")) one.remove();
  const last = box.querySelector(".quote-new");
  last.querySelector("textarea").value = "";
  for (const quote of quotes) last.before(quoteBox(box, quote));
}

function quoteBox(box, text) {
  const made = document.createElement("div");
  made.className = "quote";
  const field = document.createElement("textarea");
  Object.assign(field, { name: box.dataset.quotes, rows: 1, value: text, dir: "auto" });
  field.setAttribute("aria-label", "Quotation");
  made.append(field);
  dressQuote(made);
  return made;
}

function dressQuote(one) {
  const remove = document.createElement("button");
  Object.assign(remove, { type: "button", className: "quiet quote-remove", textContent: "Remove" });
  remove.setAttribute("aria-label", "Remove this quotation");
  remove.addEventListener("click", () => {
    const form = one.closest("form");
    one.remove();
    form.dispatchEvent(new Event("change", { bubbles: true }));
  });
  one.append(remove);
}

/** Quotations can be removed, and typed ones are asked for only when wanted. */
export function dressQuotes(element) {
  for (const box of element.querySelectorAll("[data-quotes]")) {
    for (const one of box.querySelectorAll(".quote:not(.quote-new)")) dressQuote(one);
    const last = box.querySelector(".quote-new");
    if (last.querySelector("textarea").value.trim() || last.contains(document.activeElement)) continue;
    const open = document.createElement("button");
    Object.assign(open, { type: "button", className: "quiet small", textContent: "Type a quotation" });
    last.hidden = true;
    open.addEventListener("click", () => {
      last.hidden = false;
      open.hidden = true;
      last.querySelector("textarea").focus();
    });
    box.append(open);
  }
}

/** Attach words to a criterion or a flag; false where they stand there already. */
export function addQuote(element, name, text) {
  const box = element.querySelector(`[data-quotes="${CSS.escape(name)}"]`);
  if (!box || quotesOf(element, name).includes(text.trim())) return false;
  box.querySelector(".quote-new").before(quoteBox(box, text));
  return true;
}
