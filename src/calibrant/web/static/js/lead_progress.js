// How far a file is, asked every half second; when it is over, the page shows what came of it.
const box = document.querySelector("[data-progress]");
const bar = box.querySelector("progress");
const told = box.querySelector("[data-told]");
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function follow() {
  for (;;) {
    await pause(500);
    let found;
    try {
      const answer = await fetch(box.dataset.progress, { headers: { accept: "application/json" } });
      if (!answer.ok) break;
      found = await answer.json();
    } catch { continue; /* the network comes back */ }
    if (found.over) break;
    if (found.total) { bar.max = found.total; bar.value = found.done; }
    const of = found.total ? ` of ${found.total.toLocaleString("en")}` : " so far";
    told.textContent = `${found.done.toLocaleString("en")} records${of}.`;
  }
  location.reload();
}
follow();
