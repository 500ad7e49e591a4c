// Whether everything is saved, in words.

const now = () => new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const KEPT = "kept on this computer";
const LOST = "this browser keeps nothing, so leave the page open";

const WORDS = {
  saved: () => `Saved at ${now()}`,
  saving: () => "Saving…",
  kept: (_, where) => `Changed, not handed in: ${where}`,
  local: (_, where) => `Not saved: no connection, ${where}, trying again`,
  out: (_, where) => `Signed out: sign in in another tab, nothing is lost (${where})`,
  else: (_, where) => `Somebody else is signed in now: nothing is sent, ${where}`,
  clash: () => "Changed in another tab: choose what to keep",
  refused: (detail, where) => `Not saved: ${detail || "the server refused it"} (${where})`,
  handing: () => "Handing in…",
  unhanded: (_, where) => `Not handed in: no connection, ${where}, trying again`,
};
const TROUBLE = ["local", "out", "else", "clash", "refused", "unhanded"];

/** Say a state on the page; what goes wrong, and that it is right again, is announced too. */
export function sayState(root, name, detail, kept, announce) {
  const place = root.querySelector("#save-state");
  const words = root.querySelector("#save-words");
  if (!place || !words) return;
  const before = place.dataset.state;
  const text = WORDS[name](detail, kept ? KEPT : LOST);
  words.textContent = text;
  place.dataset.state = name;
  place.querySelector("a")?.remove();
  if (name === "out") {
    const link = Object.assign(document.createElement("a"), { href: "/sign-in", target: "_blank", rel: "noopener", textContent: "Sign in" });
    place.append(link);
  }
  const was = TROUBLE.includes(before);
  if (TROUBLE.includes(name) ? before !== name : was && name === "saved") announce(text);
}
