// A line that begins with a slash offers what it may become: commands, skills
// and tools. Arrows choose, Tab or Enter takes, Escape closes.
import htmx from "htmx.org/dist/htmx.esm.js";
import { on } from "./dom.js";

const pause = 120;
let timer = null;
let asked = null;

const list = () => document.getElementById("chat-completions");
const options = () => [...(list()?.querySelectorAll("[role=option]") ?? [])];
const chosen = () => list()?.querySelector("[aria-selected=true]");

function close(field) {
  clearTimeout(timer);
  asked?.abort();
  if (list()) {
    list().hidden = true;
    list().replaceChildren();
  }
  field?.setAttribute("aria-expanded", "false");
  field?.removeAttribute("aria-activedescendant");
}

function choose(field, option) {
  chosen()?.setAttribute("aria-selected", "false");
  option.setAttribute("aria-selected", "true");
  option.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", option.id);
}

async function offer(field) {
  asked?.abort();
  asked = new AbortController();
  const url = new URL(field.dataset.complete, location.href);
  url.searchParams.set("q", field.value);
  try {
    const response = await fetch(url, { headers: { "HX-Request": "true" }, signal: asked.signal });
    const text = await response.text();
    if (!response.ok || !list()) return;
    const found = new DOMParser().parseFromString(text, "text/html").querySelectorAll("[role=option]");
    list().replaceChildren(...found);
    list().hidden = found.length === 0;
    field.setAttribute("aria-expanded", String(found.length > 0));
    if (found.length) choose(field, options()[0]);
  } catch (error) {
    if (error.name !== "AbortError") close(field);
  }
}

function take(field, option) {
  if (option.dataset.pick) {
    close(field);
    htmx.ajax("GET", option.dataset.pick, { target: "#chat-composer", swap: "outerHTML" });
    return;
  }
  field.value = option.dataset.insert;
  close(field);
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

on("input", "[data-chat-text]", (field) => {
  clearTimeout(timer);
  if (!field.value.startsWith("/") || field.value.includes("\n")) {
    close(field);
    return;
  }
  timer = setTimeout(() => offer(field), pause);
});

document.addEventListener("keydown", (event) => {
  const field = event.target.closest?.("[data-chat-text]");
  if (!field || !options().length || event.isComposing) return;
  const all = options();
  const at = all.indexOf(chosen());
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const whole = chosen()?.dataset.insert?.trim() === field.value.trim() && !chosen().dataset.pick;
  if (step) choose(field, all[(at + step + all.length) % all.length]);
  else if (event.key === "Escape") close(field);
  else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && !whole)) take(field, chosen());
  else return;
  event.preventDefault();
}, { capture: true });

on("mousedown", "#chat-completions [role=option]", (option, event) => {
  event.preventDefault();
  take(document.querySelector("[data-chat-text]"), option);
});

on("focusout", "[data-chat-text]", (field) => close(field));
