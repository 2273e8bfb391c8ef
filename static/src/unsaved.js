// Forms marked data-guard warn before what was typed in them is lost.
import { on } from "./dom.js";

on("input", "form[data-guard]", (form) => form.setAttribute("data-dirty", ""));
on("submit", "form[data-guard]", (form) => form.removeAttribute("data-dirty"));

addEventListener("beforeunload", (event) => {
  if (document.querySelector("form[data-dirty]")) event.preventDefault();
});
