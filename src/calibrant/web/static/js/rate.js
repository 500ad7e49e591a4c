// The rating page: answers by key, drafts that are never lost, the next item without a new page.
import { acts } from "./keys.js";
import { Keeper, local, send } from "./draft.js";
import { showClash } from "./draft_clash.js";
import { markQuotes, selectedQuotes } from "./evidence.js";
import { addQuote, dressQuotes, merged, readForm, sameText, writeForm } from "./rate_form.js";
import { isTimeToPause, oneMore, pause, sittingOf } from "./sitting.js";
import { sayState } from "./rate_state.js";
import { bring, criterionChanged, isBelow, stopAfter } from "./rate_walk.js";

const ONE_BY_ONE = "calibrant:one-by-one";
const SECOND_DIGIT = 900;
const MOST_UNDO = 100;
let here = null;

const remembered = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
const remember = (name, value) => { try { localStorage.setItem(name, value); } catch { /* a private window forgets */ } };

const announcer = Object.assign(document.createElement("div"), { className: "unseen", role: "status" });
document.body.append(announcer);
const announce = (text) => { announcer.textContent = text; };

/** One item in hand. */
class RatePage {
  constructor(root, submitted = null) {
    this.root = root;
    this.form = root.querySelector("#rating");
    this.pane = root.querySelector(".item-pane");
    const { study, task, version, rater, item, mode, before, after } = root.dataset;
    Object.assign(this, { study, task, rater, item, mode, before, after, version: Number(version), closed: "closed" in root.dataset });
    this.criteria = [...root.querySelectorAll("fieldset.criterion")];
    this.undone = [];
    this.submitted = submitted;
    this.digits = "";
    this.held = [];
    if (this.closed) { this.dressed(); return; }
    this.startSitting();
    dressQuotes(this.form);
    this.keeper = new Keeper(this, {
      form: () => readForm(this.form),
      started: () => this.form.elements.started_at.value,
      reason: () => this.form.elements.reason?.value ?? "",
      state: (name, detail, kept) => this.told(name, detail, kept),
      clash: (body) => this.clash(body),
      taken: (body) => this.taken(body),
      faults: (faults) => this.faults(faults),
      elsewhere: () => this.reread(),
    });
    this.last = readForm(this.form);
    this.restore();
    this.dressed();
    this.listen();
  }

  // -- beginning

  dressed() {
    this.root.classList.add("scripted");
    for (const one of this.root.querySelectorAll("[data-act-button]")) one.hidden = false;
    for (const one of this.root.querySelectorAll("details[data-remember]")) {
      const kept = remembered(`calibrant:${one.dataset.remember}`);
      if (kept) one.open = kept === "open";
      one.addEventListener("toggle", () => remember(`calibrant:${one.dataset.remember}`, one.open ? "open" : "shut"));
    }
    const first = this.criteria.find((one) => !this.isAnswered(one)) ?? this.criteria[0];
    if (first) this.go(first, { quiet: true });
    this.showOneByOne(remembered(ONE_BY_ONE) === "yes");
    this.refresh();
  }

  startSitting() {
    const fields = this.form.elements;
    const sitting = sittingOf(this, fields["sitting.id"].value);
    fields["sitting.id"].value = sitting.id;
    fields["sitting.position"].value = sitting.count + 1;
    if (this.mode === "rate" && isTimeToPause(this, sitting)) this.suggestPause(sitting);
  }

  suggestPause(sitting) {
    const minutes = Math.round((Date.now() - sitting.began) / 60_000);
    this.notice(`You have rated ${sitting.count} items in ${minutes} minutes. A short pause keeps your judgement fresh.`, "", [
      ["I take a pause", () => {
        const next = pause(this);
        this.form.elements["sitting.id"].value = next.id;
        this.form.elements["sitting.position"].value = 1;
        this.notice("Enjoy your pause. Everything is saved; a new sitting begins with your next rating.", "good");
      }],
      ["Not now", () => {}],
    ]);
  }

  restore() {
    const record = this.keeper.restore();
    if (!record) return;
    writeForm(this.form, record.form);
    if (record.started) this.form.elements.started_at.value = record.started;
    this.last = readForm(this.form);
    const at = new Date(record.at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    this.notice(`Put back: what you typed here at ${at} had not reached the server.`, "good");
    this.keeper.touch();
  }

  listen() {
    this.form.addEventListener("input", (event) => this.changed(event.target));
    this.form.addEventListener("change", (event) => this.changed(event.target));
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.submit(); });
    this.form.addEventListener("focusin", (event) => {
      const found = event.target.closest("fieldset.criterion");
      if (found) this.current(found);
    });
    this.form.addEventListener("click", (event) => {
      const found = event.target.closest("fieldset.criterion");
      if (found) this.current(found);
    });
    this.root.addEventListener("click", (event) => this.clicked(event));
    this.askForm()?.addEventListener("submit", (event) => { event.preventDefault(); this.ask(); });
    this.askForm()?.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.askForm().requestSubmit(); }
    });
    this.selecting = () => this.showPicked();
    document.addEventListener("selectionchange", this.selecting);
  }

  end() {
    this.keeper?.end();
    if (this.selecting) document.removeEventListener("selectionchange", this.selecting);
  }

  clicked(event) {
    const button = event.target.closest("[data-act-button]");
    if (button) { runs[button.dataset.actButton]?.(event, ""); return; }
    if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
    const link = event.target.closest("a[data-go]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); show(link.href); }
  }

  // -- changes

  changed(target) {
    const form = readForm(this.form);
    if (sameText(form) === sameText(this.last)) { this.refresh(); return; }
    const typing = target?.tagName === "TEXTAREA" || target?.type === "text";
    const goesOn = typing && this.typed === target && Date.now() - this.typedAt < 1500;
    if (!goesOn) this.undone = [...this.undone.slice(1 - MOST_UNDO), this.last];
    [this.typed, this.typedAt] = typing ? [target, Date.now()] : [null, 0];
    this.last = form;
    this.right(target?.name ?? "");
    const flag = target?.name?.startsWith("flags.") && target.checked ? target.name.slice(6) : "";
    if (flag && this.held.length) this.attachTo(`flag_evidence.${flag}`);
    this.keeper.touch();
    this.refresh();
  }

  /** A change made by a key: as if it had been made by hand. */
  set(input, checked) {
    input.checked = checked;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  undo() {
    const before = this.undone.pop();
    if (before) {
      const criterion = criterionChanged(this.last, before, this.criteria);
      writeForm(this.form, before);
      this.last = readForm(this.form);
      this.typed = null;
      this.keeper.touch();
      this.refresh();
      if (criterion) this.go(criterion);
      announce(criterion ? `Undone: ${this.nameOf(criterion)}.` : "Undone.");
    } else if (this.submitted) show(`/s/${this.study}/past/${this.submitted.task}`);
  }

  refresh() {
    let answered = 0;
    for (const one of this.criteria) {
      const is = this.isAnswered(one);
      one.classList.toggle("answered", is);
      answered += is;
    }
    const told = this.root.querySelector("#answered");
    if (told) told.textContent = `${answered} of ${this.criteria.length} answered`;
    told?.classList.remove("hinted");
    for (const one of this.root.querySelectorAll("[data-flag]")) {
      one.classList.toggle("raised", one.querySelector("input[type=checkbox]").checked);
    }
    const undo = this.root.querySelector("[data-act-button=undo]");
    if (undo) undo.disabled = !this.undone.length && !this.submitted;
    const form = this.last ?? {};
    const quotes = [...Object.values(form.evidence ?? {}).flat(), ...(form.flags ?? []).flatMap((one) => one.evidence)];
    markQuotes(this.pane, quotes);
  }

  isAnswered(criterion) {
    return Boolean(criterion.querySelector(`input[name="answers.${criterion.dataset.criterion}"]:checked`));
  }

  // -- criteria

  current(criterion) {
    this.at = criterion;
    for (const one of this.criteria) one.classList.toggle("current", one === criterion);
    const count = this.root.querySelector("#which");
    if (count) count.textContent = `${this.criteria.indexOf(criterion) + 1} of ${this.criteria.length}`;
    this.showPicked();
  }

  go(criterion, { quiet = false } = {}) {
    this.current(criterion);
    if (quiet) return;
    criterion.focus({ preventScroll: true });
    bring(criterion);
  }

  nameOf(criterion) { return criterion?.querySelector(".criterion-name")?.textContent ?? ""; }

  step(by) {
    const next = stopAfter(this.root, this.criteria, this.at, by);
    if (next?.matches("fieldset")) this.go(next);
    else if (next) next.focus();
    else if (by > 0) this.root.querySelector("#submit")?.focus();
  }

  /** An answer by key; where there is nothing to say beside it, on to the next criterion. */
  answer(key) {
    if (this.closed || !this.at) return;
    if (isBelow()) { this.hint("This key answers a criterion: go to one first, with ↑ or a click."); return; }
    const inputs = [...this.at.querySelectorAll(`input[name="answers.${this.at.dataset.criterion}"]`)];
    const both = Date.now() - (this.digitAt ?? 0) < SECOND_DIGIT ? this.digits + key : key;
    const found = inputs.find((one) => one.dataset.key === both) ?? inputs.find((one) => one.dataset.key === key);
    const longer = inputs.some((one) => one.dataset.key.length > 1 && one.dataset.key.startsWith(key));
    [this.digits, this.digitAt] = longer ? [key, Date.now()] : ["", 0];
    if (!found) {
      this.hint(`${key} is no answer to ${this.nameOf(this.at)}: ${inputs.map((one) => one.dataset.key).join(", ")}`);
      return;
    }
    this.set(found, true);
    announce(`${found.value}.`);
    if ("goesOn" in this.at.dataset && !longer) this.step(1);
  }

  oneByOne() {
    const on = !this.root.classList.contains("one-by-one");
    remember(ONE_BY_ONE, on ? "yes" : "no");
    this.showOneByOne(on);
    if (this.at) this.go(this.at);
  }

  showOneByOne(on) {
    this.root.classList.toggle("one-by-one", on);
    this.root.querySelector("[data-act-button=one-by-one]")?.setAttribute("aria-pressed", String(on));
  }

  guide() {
    const found = this.at?.querySelector(".guide");
    if (found) found.open = !found.open;
    if (found?.open) found.scrollIntoView({ block: "nearest" });
  }

  note() {
    if (!this.at) return;
    this.at.querySelector(".aside").open = true;
    this.at.querySelector("textarea[name^='notes.']").focus();
  }

  borderline() {
    const box = this.at?.querySelector("input[name^='borderline.']");
    if (!box || this.closed) return;
    this.set(box, !box.checked);
    this.at.querySelector(".aside").open = true;
    if (box.checked && !this.at.querySelector("textarea[name^='notes.']").value) this.note();
  }

  // -- evidence

  showPicked() {
    const bar = this.root.querySelector("#picked");
    if (!bar || this.closed) return;
    const selection = document.getSelection();
    const inside = selection && !selection.isCollapsed && selection.anchorNode && this.pane.contains(selection.anchorNode);
    bar.hidden = !inside;
    if (inside) bar.querySelector("#picked-to").textContent = this.nameOf(this.at);
  }

  evidence() {
    if (this.closed) return;
    this.held = selectedQuotes(this.pane);
    const flag = document.activeElement?.closest?.("[data-flag]");
    if (flag) this.attachTo(`flag_evidence.${flag.dataset.flag}`);
    else if (this.at) this.attachTo(`evidence.${this.at.dataset.criterion}`);
  }

  attachTo(name) {
    const found = this.held.filter((one) => one.text);
    const lost = this.held.length - found.length;
    const part = found.some((one) => !one.whole);
    this.held = [];
    if (!found.length) {
      this.notice(lost ? "These words could not be found as they were written. Select a shorter piece." : "Select words in the item first.", "warn");
      return;
    }
    const added = found.filter((one) => addQuote(this.form, name, one.text)).length;
    const box = this.form.querySelector(`[data-quotes="${CSS.escape(name)}"]`);
    for (let one = box.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
    document.getSelection()?.removeAllRanges();
    this.changed(null);
    const more = lost || part ? " Only a part of it could be found as it was written." : "";
    announce(added ? `Attached: ${found.map((one) => one.text).join("; ")}.${more}` : "Attached already.");
    if (more) this.notice(`Attached.${more}`, "warn");
  }

  flag() {
    if (this.closed) return;
    const flags = this.root.querySelector(".flags");
    if (!flags) { this.notice("This rubric has no red flags. An edge case or a review can be asked for below.", ""); return; }
    this.held = selectedQuotes(this.pane);
    flags.scrollIntoView({ block: "nearest" });
    flags.querySelector("input[type=checkbox]").focus();
    if (this.held.length) this.hint("Choose the flag that these words carry: ↑ ↓, then the space bar.");
  }

  // -- asking

  askForm() { return this.root.querySelector("#ask-form"); }

  openAsk() {
    const dialog = this.root.querySelector("#ask");
    if (!dialog) return;
    dialog.querySelector("select").value = this.at?.dataset.criterion ?? "";
    dialog.querySelector("#ask-wrong").textContent = "";
    dialog.showModal();
    dialog.querySelector("textarea").focus();
  }

  async ask() {
    const form = this.askForm();
    const body = { text: form.elements.text.value, criterion: form.elements.criterion.value || null };
    const answer = await send("POST", `${this.keeper.api}/question`, body);
    if (answer.status === 201) {
      form.reset();
      form.closest("dialog").close();
      this.notice(answer.body.said, "good");
    } else {
      const why = answer.status ? answer.body.error ?? "" : "there is no connection";
      form.querySelector("#ask-wrong").textContent = `Not sent: ${why}. Your question stays here.`;
    }
  }

  // -- handing in

  submit() {
    if (this.closed || !this.keeper || this.keeper.handing) return;
    this.wrong({});
    this.keeper.hand();
  }

  taken(body) {
    const sitting = this.form.elements["sitting.id"].value;
    if (this.mode === "correct") {
      show(`/s/${this.study}/past?corrected=${this.task}`);
      return;
    }
    oneMore(this, sitting);
    const submitted = { task: this.task, item: this.item };
    show(body.next || `/s/${this.study}/rate`, { submitted });
  }

  faults(faults) {
    const told = {};
    for (const one of faults) (told[one.field] ??= []).push(one.sentence || one.message);
    this.wrong(told);
    const count = faults.length === 1 ? "one thing" : `${faults.length} things`;
    const general = told[""] ? ` ${told[""].join(" ")}` : "";
    const text = `Not handed in yet: ${count} to put right.${general}`;
    this.notice(text, "bad");
    this.hint(text);
    const first = this.root.querySelector(".wrong[id^=wrong-]:not(:empty)");
    if (!first) return;
    for (let one = first.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
    const criterion = first.closest("fieldset.criterion");
    const name = first.id.slice(6);
    const field = name.startsWith("answers.") ? null : this.form.querySelector(`[name="${CSS.escape(name)}"]`);
    if (criterion) this.go(criterion);
    if (field) field.focus();
    else if (!criterion) first.scrollIntoView({ block: "nearest" });
  }

  wrong(told) {
    for (const one of this.root.querySelectorAll(".wrong[id^=wrong-]")) {
      const texts = told[one.id.slice(6)] ?? [];
      one.replaceChildren(...texts.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
    }
    if (!Object.keys(told).length) this.root.querySelector("#rate-notices .bad")?.remove();
  }

  /** What was wrong with a field that is being mended is no longer said. */
  right(name) {
    document.getElementById(`wrong-${name.replace("flag_evidence", "flags")}`)?.replaceChildren();
  }

  // -- two versions

  clash(body) {
    const mine = readForm(this.form);
    showClash(this.root.querySelector("#clash"), body, {
      choose: (fields) => {
        writeForm(this.form, merged(mine, body.form, fields));
        this.last = readForm(this.form);
        this.keeper.settle(body.version);
        this.refresh();
      },
      leave: () => { local.drop(this.keeper.key); show(this.after || `/s/${this.study}/rate`); },
      correct: () => {
        local.drop(this.keeper.key);
        local.write(local.key(this, "correct"), { form: mine, base: body.version, at: Date.now() });
        show(`/s/${this.study}/past/${this.task}`);
      },
    });
  }

  async reread() {
    const answer = await send("GET", this.keeper.api);
    if (answer.status === 409 && answer.body.state === "done") {
      this.notice("This item was handed in from another tab.", "", [["Next item", () => show(`/s/${this.study}/rate`)]]);
      return;
    }
    if (answer.status !== 200 || this.keeper.isDirty) return;
    writeForm(this.form, answer.body.draft ?? {});
    this.last = readForm(this.form);
    this.undone = [];
    this.keeper.version = answer.body.version;
    this.keeper.saved = sameText(this.last);
    this.refresh();
    this.notice("Brought up to date: you changed this draft in another tab.", "");
  }

  // -- telling

  /** A word beside what is saved, in sight wherever one is; the next change takes it away. */
  hint(text) {
    const place = this.root.querySelector("#answered");
    if (place) place.textContent = text;
    place?.classList.add("hinted");
    announce(text);
  }

  told(name, detail, kept) { sayState(this.root, name, detail, kept, announce); }

  notice(text, kind = "", buttons = []) {
    const place = this.root.querySelector("#rate-notices");
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
}

// -- going from item to item

async function show(address, { push = true, submitted = null } = {}) {
  const leaving = here;
  if (!submitted) await leaving?.keeper?.settleDown();
  let page;
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok || !page.querySelector("#rate")) { leaving?.end(); location.assign(address); return; }
    address = answer.url;
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
  here = root ? new RatePage(root, submitted) : null;
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
  evidence: () => here.evidence(),
  flag: () => here.flag(),
  guidance: () => here.guide(),
  "one-by-one": () => here.oneByOne(),
  ask: () => here.openAsk(),
  undo: () => here.undo(),
  submit: () => here.submit(),
  save: () => here.keeper?.save(),
};

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
