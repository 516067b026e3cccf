// What a screen reader is told, politely: one live region for the whole page.
import { html } from "./html.js";
import { createStore, useStore } from "./store.js";

const said = createStore("");

/** The same sentence twice is told twice: a no-break space makes it another text. */
export function announce(text) {
  said.set((last) => (last === text ? `${text}\u00a0` : text));
}

export function LiveRegion() {
  return html`<div class="visually-hidden" role="status" aria-live="polite">${useStore(said)}</div>`;
}
