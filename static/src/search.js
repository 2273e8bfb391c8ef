// "/" jumps to the search of the page, ⌘K or Ctrl+K to it from anywhere, or to
// the store's in the top bar where the page has none.
const typing = "input, textarea, select, [contenteditable], .cm-editor";

function nameKey() {
  if (/Mac|iPhone|iPad/.test(navigator.platform)) return;
  for (const hint of document.querySelectorAll("[data-search-key]")) hint.textContent = "Ctrl K";
}

document.addEventListener("htmx:after:swap", nameKey);
nameKey();

function asked(event) {
  if (event.key === "k" && (event.metaKey || event.ctrlKey)) return true;
  return event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest?.(typing);
}

document.addEventListener("keydown", (event) => {
  if (!asked(event) || document.querySelector("dialog[open]")) return;
  const field = document.querySelector("[data-page-search]") ?? document.querySelector("[data-store-search]");
  if (!field?.checkVisibility()) return;
  event.preventDefault();
  field.focus();
  field.select();
});
