// Copy buttons: data-copy holds the text, or data-copy-from the id of what
// holds it. They are hidden without script, where they could do nothing.
import { on } from "./dom.js";

on("click", "[data-copy], [data-copy-from]", async (button) => {
  const source = document.getElementById(button.dataset.copyFrom);
  const text = button.dataset.copy ?? source?.value ?? withoutNumbers(source);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    select(source); // without the permission, the reader copies by hand
    return;
  }
  button.dataset.copied = "";
  const label = button.getAttribute("aria-label");
  button.setAttribute("aria-label", button.dataset.copiedLabel);
  setTimeout(() => {
    delete button.dataset.copied;
    button.setAttribute("aria-label", label);
  }, 1600);
});

// Line numbers are drawn beside the source and are no part of it.
function withoutNumbers(source) {
  const copy = source?.cloneNode(true);
  copy?.querySelectorAll(".ln").forEach((number) => number.remove());
  return copy?.textContent ?? "";
}

function select(element) {
  if (element) getSelection()?.selectAllChildren(element);
}
