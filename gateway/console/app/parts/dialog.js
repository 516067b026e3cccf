// A modal dialog: the browser's own, so focus stays inside, Escape closes, and focus returns.
import { useEffect, useRef } from "preact/hooks";
import { html } from "../lib/html.js";
import { IconButton } from "./icons.js";

let count = 0;

export function Dialog({ title, onClose, children, wide = false }) {
  const ref = useRef(null);
  const id = useRef(`dialog-${(count += 1)}`).current;
  useEffect(() => {
    const before = document.activeElement;
    const dialog = ref.current;
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus?.();
    };
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    onClose();
  };
  const backdrop = (event) => event.target === ref.current && onClose();
  return html`<dialog ref=${ref} class=${wide ? "wide" : ""} aria-labelledby=${id} onCancel=${cancel} onMouseDown=${backdrop}>
    <div class="dialog-body">
      <header class="dialog-head">
        <h2 id=${id}>${title}</h2>
        <${IconButton} icon="close" label="Close" onClick=${onClose} />
      </header>
      ${children}
    </div>
  </dialog>`;
}

/** Asks once more, with a field for a reason when there is to be one. */
export function Confirm({ title, text, label, danger = false, busy, error, onConfirm, onClose }) {
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <p>${text}</p>
    ${error}
    <div class="row end">
      <button type="button" onClick=${onClose}>Keep it</button>
      <button type="button" class=${danger ? "danger" : "primary"} disabled=${busy} onClick=${onConfirm}>${label}</button>
    </div>
  <//>`;
}
