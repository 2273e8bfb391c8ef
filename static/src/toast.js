// Toasts leave by themselves unless the pointer or the focus is on them. What
// the network or the server broke is said in one as well.
import { on } from "./dom.js";

const host = document.getElementById("toasts");
const stay = 6000;

function schedule(toast) {
  toast.dataset.timed = "";
  const leave = () => {
    if (toast.matches(":hover, :focus-within")) setTimeout(leave, stay / 2);
    else toast.remove();
  };
  setTimeout(leave, stay);
}

export function scheduleToasts() {
  for (const toast of host?.querySelectorAll(".toast:not([data-timed], [data-stay])") ?? []) schedule(toast);
}

function trouble(key) {
  const template = document.getElementById(`toast-${key}`);
  if (!host || !template) return;
  host.replaceChildren(template.content.cloneNode(true));
}

on("click", "[data-toast-close]", (button) => button.closest(".toast").remove());

document.addEventListener("htmx:after:swap", scheduleToasts);
document.addEventListener("htmx:response:error", (event) => {
  if (event.detail.ctx.response.status >= 500) trouble("server");
});
document.addEventListener("htmx:error", (event) => {
  if (event.detail.ctx) trouble("network");
});
scheduleToasts();
