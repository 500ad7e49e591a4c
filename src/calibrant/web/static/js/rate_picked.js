// Words that are selected in the item: attached to a criterion or a flag as evidence.
import { selectedQuotes } from "./evidence.js";
import { addQuote } from "./rate_form.js";
import { announce } from "./rate_tell.js";
import { unfold } from "./rate_walk.js";

/** What is selected on a rating page, and where it goes. */
export class Picked {
  constructor(page) {
    this.page = page;
    this.held = [];
    this.selecting = () => this.show();
    document.addEventListener("selectionchange", this.selecting);
  }

  end() { document.removeEventListener("selectionchange", this.selecting); }

  show() {
    const { page } = this;
    const bar = page.root.querySelector("#picked");
    if (!bar) return;
    const selection = document.getSelection();
    const inside = selection && !selection.isCollapsed && selection.anchorNode && page.pane.contains(selection.anchorNode);
    bar.hidden = !inside;
    if (inside) bar.querySelector("#picked-to").textContent = page.nameOf(page.at);
  }

  attach() {
    const { page } = this;
    this.held = selectedQuotes(page.pane);
    const flag = document.activeElement?.closest?.("[data-flag]");
    if (flag) this.attachTo(`flag_evidence.${flag.dataset.flag}`);
    else if (page.at) this.attachTo(`evidence.${page.at.dataset.criterion}`);
  }

  attachTo(name) {
    const { page } = this;
    const found = this.held.filter((one) => one.text);
    const lost = this.held.length - found.length;
    const part = found.some((one) => !one.whole);
    this.held = [];
    if (!found.length) {
      page.notice(lost ? "These words could not be found as they were written. Select a shorter piece." : "Select words in the item first.", "warn");
      return;
    }
    const added = found.filter((one) => addQuote(page.form, name, one.text)).length;
    unfold(page.form.querySelector(`[data-quotes="${CSS.escape(name)}"]`));
    document.getSelection()?.removeAllRanges();
    page.changed(null);
    const more = lost || part ? " Only a part of it could be found as it was written." : "";
    announce(added ? `Attached: ${found.map((one) => one.text).join("; ")}.${more}` : "Attached already.");
    if (more) page.notice(`Attached.${more}`, "warn");
  }

  /** On to the red flags, with what is selected for the one that is chosen there. */
  toFlags() {
    const { page } = this;
    const flags = page.root.querySelector(".flags");
    if (!flags) { page.notice("This rubric has no red flags. An edge case or a review can be asked for below.", ""); return; }
    this.held = selectedQuotes(page.pane);
    flags.scrollIntoView({ block: "nearest" });
    flags.querySelector("input[type=checkbox]").focus();
    if (this.held.length) page.hint("Choose the flag that these words carry: ↑ ↓, then the space bar.");
  }
}
