// A file dropped on the card is the chosen file; the button says when something is on its way.
for (const form of document.querySelectorAll("form[data-upload]")) {
  const card = form.closest(".upload");
  const input = form.querySelector("input[type=file]");
  const button = form.querySelector("button");
  const over = (event) => { event.preventDefault(); card.classList.add("over"); };
  const out = () => card.classList.remove("over");
  card.addEventListener("dragover", over);
  card.addEventListener("dragleave", out);
  card.addEventListener("drop", (event) => {
    event.preventDefault();
    out();
    if (event.dataTransfer.files.length) input.files = event.dataTransfer.files;
  });
  form.addEventListener("submit", () => { button.textContent = "Sending…"; });
  addEventListener("pageshow", () => { button.textContent = button.dataset.says ?? button.textContent; });
  button.dataset.says = button.textContent;
}
