// Keeps a draft: at once on this computer, then on the server; told in words, never overwritten.
import { sameText } from "./rate_form.js";

const WAIT = 300;
const SLOWEST = 30_000;
const OLD = 30 * 24 * 3600_000;
const PREFIX = "calibrant:draft:";

/** What this computer keeps of drafts that have not reached the server. */
export const local = {
  key: (page, mode = page.mode) => `${PREFIX}${page.rater}:${page.study}:${mode}:${page.task}`,
  read(key) {
    try { return JSON.parse(localStorage.getItem(key) || "null"); } catch { return null; }
  },
  write(key, record) {
    try { localStorage.setItem(key, JSON.stringify(record)); return true; } catch { return false; }
  },
  drop(key) {
    try { localStorage.removeItem(key); } catch { /* then nothing is there */ }
  },
  prune() {
    try {
      for (const key of Object.keys(localStorage)) {
        if (key.startsWith(PREFIX) && Date.now() - (this.read(key)?.at ?? 0) > OLD) this.drop(key);
      }
    } catch { /* then nothing is kept */ }
  },
};

const csrf = () => document.querySelector("meta[name=csrf]")?.content ?? "";

/** Send to the server: `{status, body}`; status 0 where it cannot be reached. */
export async function send(method, path, body, { keepalive = false } = {}) {
  try {
    const answer = await fetch(path, {
      method, keepalive, headers: { "content-type": "application/json", accept: "application/json", "x-calibrant-csrf": csrf() },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.json().catch(() => ({})) };
  } catch {
    return { status: 0, body: {} };
  }
}

/** After somebody signed in again: "same" person with a new token, somebody "else", or nobody ("out"). */
async function comeBack(rater) {
  try {
    const answer = await fetch(location.pathname, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const token = page.querySelector("meta[name=csrf]")?.content;
    if (!token) return "out";
    if (page.querySelector("#rate")?.dataset.rater !== rater) return "else";
    const changed = token !== csrf();
    document.querySelector("meta[name=csrf]").content = token;
    for (const one of document.querySelectorAll("input[name=csrf]")) one.value = token;
    return changed ? "same" : "refused";
  } catch {
    return "away";
  }
}

/** Keeps the form of one page. `hooks`: form(), saved(), state(name, detail), clash(body), taken(body), faults(list). */
export class Keeper {
  constructor(page, hooks) {
    this.page = page;
    this.hooks = hooks;
    this.version = page.version;
    this.key = local.key(page);
    this.saved = hooks.saved();
    this.request = null;
    this.handing = null;
    this.delay = 1000;
    this.timer = 0;
    this.busy = null;
    this.over = false;
    this.channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("calibrant-drafts") : null;
    if (this.channel) this.channel.onmessage = (event) => this.heard(event.data);
    this.awake = () => { if (!this.over && this.isTroubled) this.again(0); };
    for (const name of ["online", "focus"]) addEventListener(name, this.awake);
    this.leaving = () => this.flush();
    this.hiding = () => { if (document.visibilityState === "hidden") this.flush(); };
    addEventListener("pagehide", this.leaving);
    document.addEventListener("visibilitychange", this.hiding);
  }

  get api() { return `/api/v1/studies/${this.page.study}/tasks/${this.page.task}`; }
  get isDirty() { return sameText(this.hooks.form()) !== this.saved; }

  /** Let go: nothing is sent any more. */
  end() {
    this.over = true;
    clearTimeout(this.timer);
    this.channel?.close();
    for (const name of ["online", "focus"]) removeEventListener(name, this.awake);
    removeEventListener("pagehide", this.leaving);
    document.removeEventListener("visibilitychange", this.hiding);
  }

  /** What this computer kept and the server does not have; null where there is nothing. */
  restore() {
    const record = local.read(this.key);
    if (!record) return null;
    if ([this.saved, sameText(this.hooks.form())].includes(sameText(record.form))) { local.drop(this.key); return null; }
    this.version = record.base ?? this.version;
    this.request = record.request ?? null;
    return record;
  }

  /** Something has changed: keep it here at once, and there soon. */
  touch() {
    this.handing = null;
    if (!this.isDirty && !this.isTroubled) { local.drop(this.key); this.state("saved"); return; }
    this.keep();
    if (this.isStuck) return;
    if (this.page.mode === "correct") { this.state("kept"); return; }
    if (!this.isTroubled) this.state("saving");
    this.again(this.isTroubled ? this.delay : WAIT);
  }

  keep() {
    const form = this.hooks.form();
    const same = this.request && this.request.text === sameText(form);
    if (!same) this.request = null;
    const started = this.hooks.started();
    this.isKept = local.write(this.key, { form, base: this.version, at: Date.now(), started, request: this.request });
  }

  state(name, detail = "") {
    this.isTroubled = ["local", "out", "else", "unhanded", "refused"].includes(name);
    this.isStuck = ["clash", "else"].includes(name);
    this.hooks.state(name, detail, this.isKept !== false);
  }

  again(wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.handing ? this.hand() : this.save()), wait);
  }

  later() {
    this.again(this.delay);
    this.delay = Math.min(this.delay * 2, SLOWEST);
  }

  /** Save what there is, one request after the other. */
  async save({ keepalive = false } = {}) {
    clearTimeout(this.timer);
    if (this.over || this.page.mode === "correct" || this.page.closed) return;
    if (this.busy) { await this.busy; if (this.over || !this.isDirty) return; }
    const form = this.hooks.form();
    this.busy = send("PUT", `${this.api}/draft`, { form, version: this.version }, { keepalive });
    const answer = await this.busy;
    this.busy = null;
    if (this.over) return;
    if (answer.status === 200) this.isSaved(form, answer.body.version);
    else await this.trouble(answer, form);
  }

  isSaved(form, version) {
    this.version = version;
    this.saved = sameText(form);
    this.delay = 1000;
    this.channel?.postMessage({ task: this.page.task, study: this.page.study, rater: this.page.rater, version });
    if (this.isDirty) { this.keep(); this.again(WAIT); this.state("saving"); return; }
    local.drop(this.key);
    this.state("saved");
  }

  /** Hand in; sent again under the same name until the server has answered. */
  async hand() {
    clearTimeout(this.timer);
    if (this.over || this.page.closed) return;
    if (this.busy) await this.busy;
    if (this.over) return;
    const form = this.hooks.form();
    const text = sameText(form);
    if (this.request?.text !== text) this.request = { text, id: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}` };
    this.handing = this.request.id;
    this.isKept = local.write(this.key, { form, base: this.version, at: Date.now(), started: this.hooks.started(), request: this.request });
    this.state("handing");
    const correcting = this.page.mode === "correct";
    const body = { form, request: this.request.id, started_at: this.hooks.started() };
    const path = correcting ? `${this.api}/correction` : `${this.api}/rating`;
    const more = correcting ? { revision: this.version, reason: this.hooks.reason() } : { version: this.version };
    this.busy = send("POST", path, { ...body, ...more });
    const answer = await this.busy;
    this.busy = null;
    if (this.over) return;
    if (answer.status === 201) { this.done(answer.body); return; }
    await this.trouble(answer, form);
  }

  done(body) {
    this.handing = null;
    local.drop(this.key);
    this.saved = sameText(this.hooks.form());
    this.channel?.postMessage({ task: this.page.task, study: this.page.study, rater: this.page.rater, version: Infinity });
    this.hooks.taken(body);
  }

  /** What a failed request means, in one place for saving and handing in. */
  async trouble({ status, body }, form) {
    const handing = this.handing;
    if (status === 409) { await this.stale(body, form); return; }
    if (status === 422 && body.faults?.length && body.faults[0].message) {
      this.handing = null;
      this.hooks.faults(body.faults);
      if (handing && this.isDirty) this.again(0);
      else this.state(this.page.mode === "correct" ? "kept" : "saved");
      return;
    }
    if (status === 401) { this.state("out"); this.later(); return; }
    if (status === 403) {
      const who = await comeBack(this.page.rater);
      if (who === "same") { this.again(0); return; }
      if (who === "else") { this.state("else"); return; }
      if (who === "out") { this.state("out"); this.later(); return; }
    }
    if (status === 0 || status === 429 || status >= 500) {
      this.state(handing ? "unhanded" : "local");
      this.later();
      return;
    }
    this.handing = null;
    this.state("refused", body.error ?? "");
  }

  async stale(body, form) {
    if (body.state === "open" && body.version !== undefined && !body.differences.length) {
      this.version = body.version;  // it was our own save, whose answer was lost
      this.saved = sameText(form);
      this.again(0);
      return;
    }
    if (body.state === "done" && !body.differences.length && body.version) {  // as it stands here
      this.done({ next: "", ...body });
      return;
    }
    this.handing = null;
    if (body.state === "elsewhere") { this.state("refused", body.error); return; }
    this.state("clash");
    this.hooks.clash(body);
  }

  /** The person has chosen between two versions: go on from the one that is kept. */
  settle(version) {
    this.version = version;
    this.saved = null;
    this.state("saving");
    this.keep();
    this.again(0);
  }

  /** Another tab has saved: where nothing is unsaved here, show what it has. */
  heard(told) {
    const mine = told.task === this.page.task && told.study === this.page.study && told.rater === this.page.rater;
    if (mine && told.version > this.version && !this.isDirty && !this.busy) this.hooks.elsewhere();
  }

  /** On the way out: what is unsaved is sent without waiting; this computer keeps it in any case. */
  flush() {
    if (this.over || !this.isDirty || this.isStuck || this.page.closed) return;
    this.keep();
    if (!this.busy) this.save({ keepalive: true });
  }

  /** Before another item is shown: give a save that is due a moment to arrive. */
  async settleDown(most = 1500) {
    clearTimeout(this.timer);
    if (this.page.mode === "correct" || this.page.closed || !(this.isDirty || this.busy) || this.isStuck) return;
    await Promise.race([this.save(), new Promise((done) => setTimeout(done, most))]);
  }
}
