// on listens at the document, so that it also serves what a swap brings later.
export function on(type, selector, handle, options) {
  document.addEventListener(type, (event) => {
    const element = event.target.closest?.(selector);
    if (element) handle(element, event);
  }, options);
}

// remember keeps a choice for a year where the server can read it.
export function remember(name, value) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  const age = value ? 60 * 60 * 24 * 365 : 0;
  document.cookie = `${name}=${value}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
}
