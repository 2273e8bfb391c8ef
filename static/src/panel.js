// The chat panel opens and folds beside any page, and stays as it was left.
// Where it would cover the page it opens only when it is asked to.
import htmx from "htmx.org/dist/htmx.esm.js";
import { on, remember } from "./dom.js";

const panel = document.getElementById("chat-panel");
const body = document.getElementById("chat-panel-body");
const opener = () => document.querySelector("[data-panel-opener]");

export const panelShown = () => panel?.checkVisibility() ?? false;

function focusInside() {
  (body.querySelector("textarea, input:not([type=hidden])") ?? panel.querySelector("a, button"))?.focus();
}

async function load() {
  if (!body.querySelector("#chat")) await htmx.ajax("GET", body.dataset.src, { target: body, swap: "innerHTML" });
}

async function show(open) {
  panel.toggleAttribute("data-open", open);
  panel.toggleAttribute("data-sheet", open);
  opener()?.setAttribute("aria-expanded", String(open));
  remember("chat", open ? "open" : "");
  if (!open) {
    opener()?.focus();
    return;
  }
  await load();
  focusInside();
}

on("click", "[data-panel-toggle]", (button, event) => {
  if (!panel) return; // the link leads to the conversation's own page
  event.preventDefault();
  show(!panelShown());
});

// A link that opens something in the panel, by its own request.
on("click", "[data-panel-link]", (link, event) => {
  if (!panel || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  link.closest("details.menu")?.removeAttribute("open");
  panel.setAttribute("data-open", "");
  panel.setAttribute("data-sheet", "");
  opener()?.setAttribute("aria-expanded", "true");
  remember("chat", "open");
  htmx.ajax("GET", link.dataset.panelLink, { target: body, swap: "innerHTML" }).then(focusInside);
});

on("keydown", "#chat-panel", (element, event) => {
  if (event.key === "Escape" && !event.defaultPrevented) show(false);
});

// The panel knows where the page is when it comes back to it.
if (panelShown()) load();
