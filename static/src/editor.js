// Turns each textarea with data-editor into a code editor. The textarea stays
// the form's field and is kept in step, so a form posts the same either way.
import { basicSetup } from "codemirror";
import { EditorView, keymap } from "@codemirror/view";
import { Compartment, EditorState } from "@codemirror/state";
import { indentWithTab } from "@codemirror/commands";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { markdown } from "@codemirror/lang-markdown";
import { python } from "@codemirror/lang-python";
import { yaml } from "@codemirror/lang-yaml";

const languages = { javascript, node: javascript, json, markdown, python, yaml };

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.tagName], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  { tag: [tags.function(tags.variableName), tags.className, tags.propertyName, tags.typeName], color: "var(--code-name)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.heading, tags.strong], fontWeight: "600" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.link, tags.url], color: "var(--primary)" },
]);

const look = EditorView.theme({
  "&": { backgroundColor: "transparent", color: "var(--foreground)", fontSize: "0.8125rem", maxHeight: "36rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.55" },
  ".cm-gutters": { backgroundColor: "var(--muted)", color: "var(--muted-foreground)", borderRight: "1px solid var(--border)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in oklab, var(--primary) 6%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--foreground)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in oklab, var(--primary) 22%, transparent) !important" },
  ".cm-tooltip": { backgroundColor: "var(--popover)", border: "1px solid var(--border)" },
});

function language(name) {
  return languages[name] ? [languages[name]()] : [];
}

// tall gives an empty editor the lines that its field asks for, a dozen at most.
function tall(field) {
  return EditorView.theme({ ".cm-content, .cm-gutter": { minHeight: `${Math.min(field.rows, 12) * 1.26}rem` } });
}

function edit(field) {
  const label = field.labels?.[0]?.textContent.trim() ?? field.getAttribute("aria-label") ?? "";
  const hint = field.parentElement.querySelector("[data-editor-hint]");
  if (hint) hint.hidden = false;
  const described = (field.getAttribute("aria-describedby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent.trim() ?? "").join(" ");
  const help = `${described} ${hint?.textContent ?? ""}`.trim();
  const host = document.createElement("div");
  host.className = "editor-host";
  field.before(host); // first, so that the editor can measure its lines
  // In a shadow root the editor brings its styles by adoptedStyleSheets, which
  // the content security policy allows; in the page it would need a nonce.
  const root = host.attachShadow({ mode: "open" });
  const spoken = new Compartment();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: field.value,
      extensions: [
        basicSetup,
        keymap.of([indentWithTab]),
        spoken.of(language(field.dataset.editor)),
        syntaxHighlighting(colours),
        look,
        tall(field),
        EditorState.readOnly.of(field.readOnly),
        EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label, ...(help && { "aria-description": help }) }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          field.value = view.state.doc.toString();
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }),
      ],
    }),
  });
  // A select names the field whose language it chooses.
  document.querySelector(`select[data-editor-for="${field.id}"]`)?.addEventListener("change", (event) => {
    view.dispatch({ effects: spoken.reconfigure(language(event.target.value)) });
  });
  field.hidden = true;
  field.removeAttribute("data-editor");
  field.labels?.[0]?.addEventListener("click", () => view.focus());
}

function editAll() {
  document.querySelectorAll("textarea[data-editor]").forEach(edit);
}

document.addEventListener("htmx:after:swap", editAll);
editAll();
