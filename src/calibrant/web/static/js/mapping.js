// A field that one column has is told on the others at once, before anything is sent.
import { isTouched } from "./touched.js";

const FREE = new Set(["beside", "show", "out"]);
for (const form of document.querySelectorAll("form[data-mapping]")) {
  const lists = [...form.querySelectorAll("select")];
  const button = form.querySelector("button");
  const isFirst = button.classList.contains("primary");
  function look() {
    const seen = new Map();
    for (const one of lists) {
      if (!FREE.has(one.value)) seen.set(one.value, (seen.get(one.value) ?? 0) + 1);
    }
    for (const one of lists) {
      const twice = (seen.get(one.value) ?? 0) > 1;
      one.setAttribute("aria-invalid", String(twice));
      one.setCustomValidity(twice ? "Another column is this already." : "");
    }
    button.classList.toggle("primary", isFirst || lists.some(isTouched));
  }
  form.addEventListener("change", look);
  look();
}
