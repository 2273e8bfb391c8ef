// The chat panel opens and folds beside any page, and stays as it was left.
import { on, remember } from "./dom.js";

const panel = document.getElementById("chat-panel");

function show(open) {
  panel.toggleAttribute("data-open", open);
  for (const button of document.querySelectorAll("[data-panel-toggle]")) {
    button.setAttribute("aria-expanded", String(open));
  }
  remember("chat", open ? "open" : "");
  if (open) panel.dispatchEvent(new CustomEvent("panel:open"));
}

on("click", "[data-panel-toggle]", (button, event) => {
  if (!panel) return; // the link leads to the conversation's own page
  event.preventDefault();
  show(!panel.hasAttribute("data-open"));
  if (panel.hasAttribute("data-open")) panel.querySelector("textarea, input, button, a")?.focus();
  else document.querySelector("[data-panel-toggle]")?.focus();
});

on("keydown", "#chat-panel", (element, event) => {
  if (event.key === "Escape") {
    show(false);
    document.querySelector("[data-panel-toggle]")?.focus();
  }
});
