// The living page opens its dialog.
for (const button of document.querySelectorAll("[data-open]")) {
  button.hidden = false;
  button.addEventListener("click", () => document.getElementById(button.dataset.open).showModal());
}
