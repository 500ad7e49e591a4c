// Where one is in the form: criteria one after the other, then the red flags below them.

const boxes = (root) => [...root.querySelectorAll("[data-flag] input[type=checkbox]")];
const flagHere = (root) => {
  const flag = document.activeElement?.closest?.("[data-flag]");
  return flag && root.contains(flag) ? flag.querySelector("input[type=checkbox]") : null;
};

/** Whether one is below the criteria, where a digit would answer something out of sight. */
export const isBelow = () => Boolean(document.activeElement?.closest?.(".after-criteria"));

/** What comes `by` stops after the criterion one is at, or after the flag one is on. */
export function stopAfter(root, criteria, at, by) {
  const flag = flagHere(root);
  const stops = flag ? [...criteria, ...boxes(root)] : criteria;
  return stops[stops.indexOf(flag ?? at) + by];
}

/** Bring something into sight: from its top where it is taller than the room there is. */
export function bring(element) {
  const pane = element.closest(".pane");
  const bar = pane?.querySelector(".bar");
  const room = Math.min(pane?.clientHeight ?? innerHeight, innerHeight) - (bar?.offsetHeight ?? 0);
  element.scrollIntoView({ block: element.offsetHeight > room ? "start" : "nearest" });
}

/** Open whatever something is folded into. */
export function unfold(element) {
  for (let one = element.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
}

/** The criterion in which two versions of a form differ; undefined where it is something else. */
export function criterionChanged(before, after, criteria) {
  const said = (form, id) => JSON.stringify([
    ...["answers", "notes", "evidence", "tags", "sub_answers"].map((field) => form[field]?.[id] ?? ""),
    (form.borderline ?? []).includes(id),
  ]);
  return criteria.find((one) => said(before, one.dataset.criterion) !== said(after, one.dataset.criterion));
}
