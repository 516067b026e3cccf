// Places are hashes (`#/s/<session>/tree?floor=…`): the server has one page, and a reload keeps the place.
import { createStore } from "./store.js";

/** "#/s/1/tree?floor=2" as {parts: ["s", "1", "tree"], query: URLSearchParams, path}. */
export function parse(hash) {
  const text = hash.replace(/^#\/?/, "");
  const [path, query = ""] = text.split("?");
  return { path, parts: path.split("/").filter(Boolean).map(safeDecode), query: new URLSearchParams(query) };
}

function safeDecode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const place = createStore(parse(location.hash));

addEventListener("hashchange", () => place.set(parse(location.hash)));

/** The href of a place. Empty query values are left out. */
export function to(parts, query = {}) {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  const tail = search.size ? `?${search}` : "";
  return `#/${parts.map(encodeURIComponent).join("/")}${tail}`;
}

export function go(parts, query) {
  location.hash = to(parts, query);
}
