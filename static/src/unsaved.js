// Forms marked data-guard warn before what was typed in them is lost.
import { on } from "./dom.js";

on("input", "form[data-guard]", (form) => form.setAttribute("data-dirty", ""));
on("submit", "form[data-guard]", (form) => form.removeAttribute("data-dirty"));

// What the server has kept is no longer lost by leaving.
document.addEventListener("htmx:after:swap", (event) => {
  if (event.detail.ctx?.target?.id !== "author-live") return;
  document.querySelector("[data-saved]")?.closest("form[data-guard]")?.removeAttribute("data-dirty");
});

addEventListener("beforeunload", (event) => {
  if (document.querySelector("form[data-dirty]")) event.preventDefault();
});
