// Arrow keys and j/k move through the rows of a list.
const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

document.addEventListener("keydown", (event) => {
  const step = steps[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
  const list = event.target.closest?.("[data-rows]");
  if (!list || event.target.closest("input, textarea, select, details[open]")) return;
  const links = [...list.querySelectorAll(".row-link")];
  const row = event.target.closest(".row");
  const at = links.findIndex((link) => row?.contains(link));
  const next = links[at + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
});
