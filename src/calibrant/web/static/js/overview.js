// Parts of a page that come later: fetched once, or again and again while something runs.

async function fill(place) {
  const { load, every } = place.dataset;
  try {
    const answer = await fetch(load, { headers: { accept: "text/html" }, credentials: "same-origin" });
    if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
    if ("whole" in place.dataset) return location.reload(); // it is kept now, and there at once
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    const inner = found.querySelector("[data-part]") ?? found.body;
    place.replaceChildren(...inner.childNodes);
    place.removeAttribute("aria-busy");
    place.dispatchEvent(new CustomEvent("calibrant:shown", { bubbles: true }));
    const again = place.querySelector("[data-again]");
    if (every && again) setTimeout(() => fill(place), Number(every));
    else if (every) for (const one of document.querySelectorAll("[data-while]")) one.hidden = true;
  } catch {
    place.removeAttribute("aria-busy");
    if (every) setTimeout(() => fill(place), 4 * Number(every));
  }
}

for (const place of document.querySelectorAll("[data-load]")) {
  const { every } = place.dataset;
  if (every) setTimeout(() => fill(place), Number(every));
  else fill(place);
}
