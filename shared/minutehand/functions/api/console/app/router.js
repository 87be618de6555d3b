// The view is in the URL: a page's path below /console, and its filters as the query.
import { store } from "./store.js";

// This file is in /console/static/VERSION/app, behind a prefix if the API has one.
export const base = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");

const read = () => ({
  path: location.pathname.slice(base.length).replace(/^\/|\/$/g, ""),
  query: new URLSearchParams(location.search),
});

const route = store(read());
export const useRoute = route.use;

export function link(path = "", query = {}) {
  const entries = query instanceof URLSearchParams ? [...query] : flat(query);
  const text = new URLSearchParams(entries).toString();
  return `${base}${path ? `/${path}` : ""}${text ? `?${text}` : ""}`;
}

// A list is a repeated parameter; null, false and "" leave a parameter out.
function flat(query) {
  return Object.entries(query).flatMap(([name, value]) =>
    [value].flat().filter((each) => each !== null && each !== undefined && each !== "" && each !== false)
      .map((each) => [name, String(each)]));
}

export const jobLink = (id) => link(`jobs/${id}`);

export function go(to, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", to);
  route.set(read());
}

// Changes the filters of the current page; null removes one.
export function setQuery(changes, options) {
  const { path, query } = route.get();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const [, each] of flat({ [name]: value })) next.append(name, each);
  }
  go(link(path, next), options);
}

export function match(routes, path) {
  for (const candidate of routes) {
    const names = [];
    const pattern = candidate.path.replace(/:(\w+)/g, (_, name) => { names.push(name); return "([^/]+)"; });
    const found = new RegExp(`^${pattern}$`).exec(path);
    if (found) return { ...candidate, params: Object.fromEntries(names.map((name, at) => [name, decode(found[at + 1])])) };
  }
  return null;
}

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function followLink(event) {
  const anchor = event.target.closest?.("a[href]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!anchor || !plain || event.defaultPrevented || anchor.target || anchor.origin !== location.origin) return;
  if (anchor.pathname !== base && !anchor.pathname.startsWith(`${base}/`)) return;
  event.preventDefault();
  const moved = anchor.pathname !== location.pathname;
  go(anchor.pathname + anchor.search);
  if (moved) scrollTo(0, 0);
}

export function startRouter() {
  document.addEventListener("click", followLink);
  addEventListener("popstate", () => route.set(read()));
}
