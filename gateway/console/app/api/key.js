// The API key of this tab, for servers that ask for one. It ends with the tab and is never in a URL.
import { createStore } from "../lib/store.js";

const KEY = "stemma.key";

export const apiKey = createStore(sessionStorage.getItem(KEY) ?? "");
/** Set when a call was refused for want of a valid key: the page asks for one. */
export const keyWanted = createStore(false);

export function useKey(key) {
  if (key) sessionStorage.setItem(KEY, key);
  // Whoever signs out leaves nothing behind: what was typed and not sent goes as well.
  else sessionStorage.clear();
  apiKey.set(key);
  keyWanted.set(false);
}

export function authorization() {
  const key = apiKey.get();
  return key ? { authorization: `Bearer ${key}` } : {};
}
