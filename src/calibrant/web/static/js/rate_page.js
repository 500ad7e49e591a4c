// One item on the rating page: its answers, its draft, and handing it in.
import { Keeper, local, send } from "./draft.js";
import { showClash } from "./draft_clash.js";
import { markQuotes } from "./evidence.js";
import { forget, readAhead } from "./rate_ahead.js";
import { listenToAsk } from "./rate_ask.js";
import { nowRight, showFaults, showWrong } from "./rate_faults.js";
import { asSent, dressQuotes, merged, readForm, sameText, touchedFields, writeForm } from "./rate_form.js";
import { Picked } from "./rate_picked.js";
import { sayState } from "./rate_state.js";
import { announce, hint, notice, remember, remembered } from "./rate_tell.js";
import { bring, criterionChanged, isBelow, stopAfter } from "./rate_walk.js";
import { isTimeToPause, oneMore, pause, sittingOf } from "./sitting.js";

const ONE_BY_ONE = "calibrant:one-by-one";
const SECOND_DIGIT = 900;
const MOST_UNDO = 100;

/** One item in hand. */
export class RatePage {
  constructor(root, { show, run, submitted = null }) {
    Object.assign(this, { root, show, run });
    this.form = root.querySelector("#rating");
    this.pane = root.querySelector(".item-pane");
    const { study, task, version, rater, item, mode, before, after } = root.dataset;
    Object.assign(this, { study, task, rater, item, mode, before, after, version: Number(version), closed: "closed" in root.dataset });
    this.criteria = [...root.querySelectorAll("fieldset.criterion")];
    this.undone = [];
    this.submitted = submitted;
    this.digits = "";
    if (this.closed) { this.dressed(); return; }
    this.startSitting();
    dressQuotes(this.form);
    this.keeper = new Keeper(this, {
      form: () => readForm(this.form),
      saved: () => ("unsaved" in root.dataset ? null : sameText(asSent(this.form))),
      started: () => this.form.elements.started_at.value,
      reason: () => this.form.elements.reason?.value ?? "",
      state: (name, detail, kept) => this.told(name, detail, kept),
      clash: (body) => this.clash(body),
      taken: (body) => this.taken(body),
      faults: (faults) => showFaults(this, faults),
      elsewhere: () => this.reread(),
    });
    this.last = readForm(this.form);
    this.picked = new Picked(this);
    this.restore();
    this.dressed();
    this.listen();
    if (this.keeper.isDirty) this.keeper.touch();  // filled in before this script came
  }

  // -- beginning

  dressed() {
    this.root.classList.add("scripted");
    for (const one of this.root.querySelectorAll("[data-act-button]")) one.hidden = false;
    for (const one of this.root.querySelectorAll("details[data-remember]")) {
      const kept = remembered(`calibrant:${one.dataset.remember}`);
      if (kept && !one.contains(document.activeElement)) one.open = kept === "open";
      one.addEventListener("toggle", () => remember(`calibrant:${one.dataset.remember}`, one.open ? "open" : "shut"));
    }
    for (const one of this.root.querySelectorAll("[data-flag]")) {
      const words = [...one.querySelectorAll("textarea")];
      one.classList.toggle("begun", words.some((field) => field.value.trim() || field === document.activeElement));
    }
    const first = this.criteria.find((one) => one.contains(document.activeElement))
      ?? this.criteria.find((one) => !this.isAnswered(one)) ?? this.criteria[0];
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
    writeForm(this.form, merged(record.form, readForm(this.form), touchedFields(this.form)));
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
    listenToAsk(this);
  }

  end() {
    this.keeper?.end();
    this.picked?.end();
  }

  clicked(event) {
    const button = event.target.closest("[data-act-button]");
    if (button) { this.run(button.dataset.actButton, event); return; }
    if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
    const link = event.target.closest("a[data-go]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); this.show(link.href); }
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
    nowRight(target?.name ?? "");
    const flag = target?.name?.startsWith("flags.") && target.checked ? target.name.slice(6) : "";
    if (flag && this.picked.held.length) this.picked.attachTo(`flag_evidence.${flag}`);
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
    } else if (this.submitted) this.show(`/s/${this.study}/past/${this.submitted.task}`);
  }

  refresh() {
    let answered = 0;
    for (const one of this.criteria) {
      const is = this.isAnswered(one);
      one.classList.toggle("answered", is);
      answered += is;
    }
    if (this.keeper && this.mode === "rate" && answered === this.criteria.length) readAhead(this.after, this.task);
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
    this.picked?.show();
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

  // -- handing in

  submit() {
    if (this.closed || !this.keeper || this.keeper.handing) return;
    showWrong(this.root, {});
    this.keeper.hand();
  }

  taken(body) {
    const sitting = this.form.elements["sitting.id"].value;
    if (this.mode === "correct") {
      this.show(`/s/${this.study}/past?corrected=${this.task}`);
      return;
    }
    oneMore(this, sitting);
    const submitted = { task: this.task, item: this.item };
    this.show(body.next || `/s/${this.study}/rate`, { submitted });
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
      leave: () => { local.drop(this.keeper.key); this.show(this.after || `/s/${this.study}/rate`); },
      correct: () => {
        local.drop(this.keeper.key);
        local.write(local.key(this, "correct"), { form: mine, base: body.version, at: Date.now() });
        this.show(`/s/${this.study}/past/${this.task}`);
      },
    });
  }

  async reread() {
    const answer = await send("GET", this.keeper.api);
    if (answer.status === 409 && answer.body.state === "done") {
      this.notice("This item was handed in from another tab.", "", [["Next item", () => this.show(`/s/${this.study}/rate`)]]);
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

  told(name, detail, kept) {
    if (name === "out" || name === "else") forget();  // it was read for whoever was signed in
    sayState(this.root, name, detail, kept, announce);
  }

  hint(text) { hint(this.root, text); }

  notice(...said) { notice(this.root, ...said); }
}
