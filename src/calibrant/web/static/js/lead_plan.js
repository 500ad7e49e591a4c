// What goes with a choice is there when the choice is made; the rest stays out of the way.
const form = document.querySelector("form[data-plan]");
const ways = form.querySelector("[data-ways]");

function look() {
  const kind = form.querySelector("input[name=kind]:checked");
  ways.hidden = Boolean(kind && "together" in kind.dataset);
  for (const radio of form.querySelectorAll("input[type=radio]")) {
    const inset = radio.closest("p").nextElementSibling;
    if (inset?.classList.contains("inset")) inset.hidden = !radio.checked;
  }
}
form.addEventListener("change", (event) => {
  if (event.target.name === "kind") {
    const together = "together" in event.target.dataset;
    const which = document.getElementById(together ? "which-sample" : "which-all");
    if (!form.querySelector("#listed").value) which.checked = true;
  }
  look();
});
look();
