// While the panel is open a link changes the page beside it and leaves the
// conversation alone, with what is typed in it and what streams. Whatever is
// out of the ordinary is loaded whole.
import htmx from "htmx.org/dist/htmx.esm.js";
import { panelShown } from "./panel.js";

const page = () => document.getElementById("page");
let underWay = null;

// parts are what a document is made with: the same ones can take its page.
function parts(doc) {
  return [...doc.head.querySelectorAll("script[src], link[rel=stylesheet]")].map((e) => e.getAttribute("src") ?? e.getAttribute("href")).join();
}

function ordinary(link, event) {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false;
  if (link.target || link.hasAttribute("download") || link.origin !== location.origin) return false;
  if (link.closest("[hx-get], [hx-post], [data-panel-link]")) return false;
  if (link.pathname === location.pathname && link.search === location.search && link.hash) return false;
  return panelShown() && page() && !document.querySelector("form[data-dirty], .editor-host");
}

async function fetched(url, signal) {
  const response = await fetch(url, { headers: { Accept: "text/html" }, signal });
  if (!response.headers.get("Content-Type")?.startsWith("text/html")) return null;
  const doc = new DOMParser().parseFromString(await response.text(), "text/html");
  if (!doc.getElementById("page") || !doc.getElementById("chat-panel") || parts(doc) !== parts(document)) return null;
  return { doc, url: response.url };
}

function put({ doc, url }, hash) {
  const next = document.adoptNode(doc.getElementById("page"));
  // htmx brings the page before back into the same place.
  history.replaceState({ htmx: true }, "", location.href);
  page().replaceWith(next);
  history.pushState({ htmx: true }, "", url + hash);
  document.title = doc.title;
  htmx.process(next);
  document.dispatchEvent(new CustomEvent("htmx:after:swap", { detail: {} }));
  scrollTo(0, 0);
  document.getElementById("content")?.focus({ preventScroll: true });
  if (hash) document.getElementById(hash.slice(1))?.scrollIntoView();
}

async function go(link) {
  underWay?.abort();
  const mine = (underWay = new AbortController());
  const main = page().querySelector(".frame-main");
  main?.setAttribute("aria-busy", "true");
  try {
    const next = await fetched(link.href, mine.signal);
    if (next) put(next, link.hash);
    else location.assign(link.href);
  } catch (error) {
    if (error.name !== "AbortError") location.assign(link.href);
  } finally {
    main?.removeAttribute("aria-busy");
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || !ordinary(link, event)) return;
  event.preventDefault();
  go(link);
});
