// Menus are details elements. With script they close on a press elsewhere, on
// Escape and when another opens, and arrows move through them.
import { on } from "./dom.js";

const open = () => document.querySelectorAll("details.menu[open]");

document.addEventListener("click", (event) => {
  for (const menu of open()) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

on("keydown", "details.menu[open]", (menu, event) => {
  if (event.key === "Escape") {
    menu.open = false;
    menu.querySelector("summary").focus();
    event.stopPropagation();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const items = [...menu.querySelectorAll(".menu-item")];
  const at = items.indexOf(document.activeElement);
  items[(at + step + items.length) % items.length]?.focus();
});
