// Filters by keyboard: "/" jumps to the search field of the page.
const typing = "input, textarea, select, [contenteditable], .cm-editor";

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.(typing) || document.querySelector("dialog[open]")) return;
  const field = document.querySelector("input[type=search][data-page-search]");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});
