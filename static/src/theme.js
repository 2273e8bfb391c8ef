// Theme buttons carry data-theme-set: light, dark, or empty for the system's.
import { on, remember } from "./dom.js";

on("click", "[data-theme-set]", (button) => {
  const theme = button.dataset.themeSet;
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  remember("theme", theme);
  for (const other of document.querySelectorAll("[data-theme-set]")) {
    other.setAttribute("aria-pressed", String(other.dataset.themeSet === theme));
  }
});
