// Dialogs are native. One that arrives by a swap opens itself; closing it, or
// an answer that empties the host, gives the focus back.
import { on } from "./dom.js";

let opener = null;

export function openDialogs(root) {
  for (const dialog of root.querySelectorAll("dialog[data-modal]:not([open])")) {
    opener = document.activeElement;
    dialog.showModal();
  }
}

on("click", "[data-dialog]", (button, event) => {
  const dialog = document.getElementById(button.dataset.dialog);
  if (!dialog) return;
  event.preventDefault();
  opener = button;
  dialog.showModal();
});

on("click", "[data-dialog-close]", (button, event) => {
  const dialog = button.closest("dialog");
  if (!dialog?.open) return;
  event.preventDefault();
  dialog.close();
});

on("click", "dialog", (dialog, event) => {
  if (event.target === dialog && !dialog.querySelector("[data-dirty]")) dialog.close();
});

document.addEventListener("close", (event) => {
  if (event.target.matches?.("dialog[data-modal]")) event.target.remove();
  if (opener?.isConnected) opener.focus();
  opener = null;
}, true);

document.addEventListener("htmx:after:swap", () => openDialogs(document));
openDialogs(document);
