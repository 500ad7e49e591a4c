// A sitting: rating without a long pause. It is told with each rating, and ends by itself.

const REST = 30 * 60_000;
const LONG = 45 * 60_000;
const MANY = 25;

const keyOf = (place) => `calibrant:sitting:${place.rater}:${place.study}`;

function read(place) {
  try { return JSON.parse(localStorage.getItem(keyOf(place)) || "null"); } catch { return null; }
}

function write(place, sitting) {
  try { localStorage.setItem(keyOf(place), JSON.stringify(sitting)); } catch { /* nothing is kept in a private window */ }
  return sitting;
}

function begun(place, id) {
  const now = Date.now();
  return write(place, { id, began: now, last: now, count: 0, told: false });
}

/** The sitting that goes on, or a new one by the name the page came with. */
export function sittingOf(place, id) {
  const kept = read(place);
  return kept?.id && Date.now() - kept.last < REST ? kept : begun(place, id);
}

/** One more rating is in. */
export function oneMore(place, id) {
  const sitting = sittingOf(place, id);
  return write(place, { ...sitting, last: Date.now(), count: sitting.count + 1 });
}

/** A pause: what comes next is a new sitting. */
export function pause(place) {
  const id = new Date().toISOString().replace(/[^0-9TZ]/g, "");
  return begun(place, id);
}

/** Whether to suggest a pause: once a sitting, and never again in it. */
export function isTimeToPause(place, sitting) {
  const due = sitting.count >= MANY || (sitting.count > 0 && Date.now() - sitting.began >= LONG);
  if (!due || sitting.told) return false;
  write(place, { ...sitting, told: true });
  return true;
}
