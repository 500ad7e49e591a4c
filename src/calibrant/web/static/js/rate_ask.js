// A question to the lead, asked beside the item it is about.
import { send } from "./draft.js";

const formOf = (page) => page.root.querySelector("#ask-form");

/** Open the question, about the criterion one is at. */
export function openAsk(page) {
  const dialog = page.root.querySelector("#ask");
  if (!dialog) return;
  dialog.querySelector("select").value = page.at?.dataset.criterion ?? "";
  dialog.querySelector("#ask-wrong").textContent = "";
  dialog.showModal();
  dialog.querySelector("textarea").focus();
}

async function ask(page) {
  const form = formOf(page);
  const body = { text: form.elements.text.value, criterion: form.elements.criterion.value || null };
  const answer = await send("POST", `${page.keeper.api}/question`, body);
  if (answer.status === 201) {
    form.reset();
    form.closest("dialog").close();
    page.notice(answer.body.said, "good");
  } else {
    const why = answer.status ? answer.body.error ?? "" : "there is no connection";
    form.querySelector("#ask-wrong").textContent = `Not sent: ${why}. Your question stays here.`;
  }
}

/** The question is sent from where it stands. */
export function listenToAsk(page) {
  const form = formOf(page);
  form?.addEventListener("submit", (event) => { event.preventDefault(); ask(page); });
  form?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
  });
}
