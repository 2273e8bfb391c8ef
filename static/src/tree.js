// Arrow keys move through a tree of files: up and down over what is in sight,
// right and left into a folder and out of it.
const item = ".tree-item";

function seen(tree) {
  return [...tree.querySelectorAll(item)].filter((el) => el.checkVisibility());
}

function into(fold, open) {
  if (!fold || fold.open === open) return false;
  fold.open = open;
  return true;
}

document.addEventListener("keydown", (event) => {
  const at = event.target.closest?.(item);
  const tree = at?.closest("[data-tree]");
  if (!tree || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = seen(tree);
  const here = all.indexOf(at);
  const fold = at.matches("summary") ? at.parentElement : null;
  let next;
  switch (event.key) {
    case "ArrowDown": next = all[here + 1]; break;
    case "ArrowUp": next = all[here - 1]; break;
    case "Home": next = all[0]; break;
    case "End": next = all.at(-1); break;
    case "ArrowRight": next = into(fold, true) ? at : fold && all[here + 1]; break;
    case "ArrowLeft": next = into(fold, false) ? at : at.closest("li").parentElement.closest("details")?.querySelector(item); break;
    default: return;
  }
  event.preventDefault();
  next?.focus();
});
