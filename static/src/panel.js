// The chat panel opens and folds beside any page, and stays as it was left.
import { on, remember } from "./dom.js";

const panel = document.getElementById("chat-panel");
const body = document.getElementById("chat-panel-body");
const opener = document.querySelector("[data-panel-opener]");

function show(open) {
  panel.toggleAttribute("data-open", open);
  opener?.setAttribute("aria-expanded", String(open));
  remember("chat", open ? "open" : "");
  if (!open) opener?.focus();
  else {
    body.dispatchEvent(new CustomEvent("panel:open"));
    (body.querySelector("textarea, input") ?? panel.querySelector("a, button")).focus();
  }
}

on("click", "[data-panel-toggle]", (button, event) => {
  if (!panel) return; // the link leads to the conversation's own page
  event.preventDefault();
  show(!panel.hasAttribute("data-open"));
});

on("keydown", "#chat-panel", (element, event) => {
  if (event.key === "Escape" && !event.defaultPrevented) show(false);
});
