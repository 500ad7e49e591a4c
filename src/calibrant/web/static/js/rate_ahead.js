// The next item, read while this one is being finished, so that it is there when this one is in.

const FRESH = 120_000;
const PATIENCE = 3_000;
let kept = null;

// where another tab works on the item meanwhile, what was read is not what there is
const drafts = "BroadcastChannel" in globalThis ? new BroadcastChannel("calibrant-drafts") : null;
if (drafts) drafts.onmessage = ({ data }) => { if (kept?.address === `/s/${data.study}/rate/${data.task}`) forget(); };

/** Read the page at an address; `leaving` is the task that will be handed in before it is shown. */
export function readAhead(address, leaving) {
  if (!address || (isFor(address, leaving) && isFresh(kept))) return;
  kept = { address, leaving, at: Date.now(), page: read(`${address}?leaving=${encodeURIComponent(leaving)}`) };
}

/** The page that was read ahead from this address, or null: then it is to be asked for. */
export async function taken(address, leaving) {
  const one = isFor(address, leaving) && isFresh(kept) ? kept : null;
  kept = null;
  if (!one) return null;
  return begun(await Promise.race([one.page, new Promise((done) => setTimeout(done, PATIENCE, null))]));
}

/** Keep nothing that was read. */
export function forget() { kept = null; }

const isFor = (address, leaving) => kept?.address === address && kept.leaving === leaving;
const age = (one) => Date.now() - one.at;  // performance.now() stands still while a computer sleeps
const isFresh = (one) => age(one) >= 0 && age(one) < FRESH;
const token = (page) => page.querySelector("meta[name=csrf]")?.content;

async function read(address) {
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const is = answer.ok && !answer.redirected && page.querySelector("#rating");
    return is ? { page, at: Date.now() } : null;
  } catch { return null; }
}

/** Work on an item begins when it is shown, by the clock of the server; a page of an earlier signing in is none. */
function begun(found) {
  if (!found || token(found.page) !== token(document)) return null;
  const field = found.page.querySelector("#rating").elements.started_at;
  field.value = new Date(Date.parse(field.value) + Math.max(0, age(found))).toISOString();
  return found.page;
}
