// Light, dark, or as the system has it. Kept on this machine; theme.js applies it before the first paint.
import { createStore } from "./store.js";

const KEY = "stemma.theme";
const ORDER = ["system", "light", "dark"];
const kept = localStorage.getItem(KEY);

export const theme = createStore(ORDER.includes(kept) ? kept : "system");

export function nextTheme() {
  const next = ORDER[(ORDER.indexOf(theme.get()) + 1) % ORDER.length];
  theme.set(next);
  if (next === "system") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEY, next);
    document.documentElement.dataset.theme = next;
  }
}
