// The conversation: it follows its end while the reader is there, keeps what is
// typed, counts the seconds, and is sent and stopped by keys.
import { on } from "./dom.js";

const chat = () => document.getElementById("chat");
const near = 48; // pixels from the end that still count as its end
let following = true;

function scroller() {
  const inner = chat()?.querySelector("[data-chat-scroll]");
  return inner && chat().hasAttribute("data-in-panel") ? inner : document.scrollingElement;
}

function atEnd() {
  const s = scroller();
  return s.scrollHeight - s.scrollTop - s.clientHeight < near;
}

function toEnd() {
  const s = scroller();
  s.scrollTop = s.scrollHeight;
  following = true;
  hint(false);
}

function hint(on) {
  const button = chat()?.querySelector("[data-chat-below]");
  if (button) button.hidden = !on;
}

document.addEventListener("scroll", (event) => {
  const s = scroller();
  if (!chat() || (event.target !== s && event.target !== document)) return;
  following = atEnd();
  if (following) hint(false);
}, { capture: true, passive: true });

on("click", "[data-chat-below]", () => {
  toEnd();
  chat().querySelector("[data-chat-text]")?.focus({ preventScroll: true });
});

// What arrived is followed, or told of.
document.addEventListener("htmx:sse:before:message", (event) => {
  if (event.target.id === "chat") following &&= atEnd();
});

document.addEventListener("htmx:sse:after:message", (event) => {
  if (event.target.id !== "chat") return;
  count();
  if (following) toEnd();
  else if (event.detail.message.data.includes("chat-l")) hint(true);
});

// Another conversation begins at its end; on a page of the past it does not.
let shown = null;
function begin() {
  const now = chat();
  if (now && now !== shown && now.querySelector("[data-chat-below]")) {
    restore();
    if (now.dataset.chat && !location.search.includes("before=")) toEnd();
  }
  if (!now?.querySelector("#chat-composer")?.contains(document.activeElement)) restore();
  shown = now;
  count();
}

// What is typed survives a reload, for as long as the tab is open.
const key = (field) => `draft ${field.form.getAttribute("action")}`;

function restore() {
  const field = document.querySelector("[data-chat-text]");
  if (field && !field.value) field.value = sessionStorage.getItem(key(field)) ?? "";
}

on("input", "[data-chat-text]", (field) => sessionStorage.setItem(key(field), field.value));

function sent(form) {
  const field = form.querySelector("[data-chat-text]");
  if (field) sessionStorage.removeItem(key(field));
}

on("submit", "[data-chat-form]", (form) => sent(form));

document.addEventListener("htmx:before:request", (event) => {
  const form = event.target.closest?.("[data-chat-form]");
  if (!form) return;
  sent(form);
  toEnd();
  spoke = true;
});

// The composer after one that was sent takes the focus that it had; one that
// could not be sent has the text in it.
let spoke = false;
document.addEventListener("htmx:after:swap", (event) => {
  begin();
  const field = document.querySelector("#chat-composer [data-chat-text]");
  const status = event.detail.ctx?.response?.status;
  if (field?.value && status >= 400) sessionStorage.setItem(key(field), field.value);
  if (!spoke || document.activeElement !== document.body) return;
  field?.focus({ preventScroll: true });
  spoke = false;
});

on("keydown", "[data-chat-text]", (field, event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.defaultPrevented) return;
  event.preventDefault();
  field.form.requestSubmit();
});

// Escape stops what runs before it folds the panel.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open], details.menu[open], #chat-completions:not([hidden])")) return;
  const stop = document.querySelector("[data-chat-stop]");
  if (!stop || !(event.target.closest("#chat, #chat-panel") || event.target === document.body)) return;
  event.preventDefault();
  stop.requestSubmit();
}, { capture: true });

on("click", "[data-ref-drop]", (button) => {
  const list = button.closest("ul");
  button.closest("li").remove();
  if (!list.children.length) list.remove();
  document.querySelector("[data-chat-text]")?.focus();
});

// Seconds since something began.
let clock = null;
function count() {
  const counted = document.querySelectorAll("[data-since]");
  for (const element of counted) {
    const s = Math.max(0, Math.floor((Date.now() - Date.parse(element.dataset.since)) / 1000));
    element.textContent = s < 1 ? "" : `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
  }
  clearTimeout(clock);
  if (counted.length) clock = setTimeout(count, 1000);
}

begin();
