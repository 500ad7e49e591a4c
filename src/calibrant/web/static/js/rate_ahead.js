// The next item, read while this one is being finished, so that it is there when this one is in.

const FRESH = 120_000;
let kept = null;

/** Read the page at an address; `leaving` is the task that will be handed in before it is shown. */
export function readAhead(address, leaving) {
  if (!address || (kept?.address === address && isFresh(kept))) return;
  kept = { address, at: performance.now(), page: read(`${address}?leaving=${encodeURIComponent(leaving)}`) };
}

/** The page that was read ahead from this address, or null: then it is to be asked for. */
export async function taken(address) {
  const one = kept;
  kept = null;
  return one?.address === address && isFresh(one) ? begun(await one.page) : null;
}

/** Keep nothing that was read. */
export function forget() { kept = null; }

const isFresh = (one) => performance.now() - one.at < FRESH;

async function read(address) {
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return answer.ok && page.querySelector("#rating") ? { page, at: performance.now() } : null;
  } catch { return null; }
}

/** Work on an item begins when it is shown, by the clock of the server. */
function begun(found) {
  const field = found?.page.querySelector("#rating").elements.started_at;
  if (field) field.value = new Date(Date.parse(field.value) + performance.now() - found.at).toISOString();
  return found?.page ?? null;
}
