// Asks for a reason and does something with it: reject, withdraw, discard.
import { useRef } from "preact/hooks";
import { html } from "../lib/html.js";
import { useAction } from "../lib/hooks.js";
import { Dialog } from "./dialog.js";
import { Notice } from "./notice.js";

/** @param required Whether the contract wants a reason. `run(reason)` may fail: the dialog then says so. */
export function ReasonDialog({ title, text, label, required, danger, run, onClose, children }) {
  const field = useRef(null);
  const [go, busy, error, clear] = useAction(async () => {
    await run(field.current.value.trim());
    onClose();
  });
  const submit = (event) => {
    event.preventDefault();
    void go();
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form class="stack" onSubmit=${submit}>
      ${text && html`<p>${text}</p>`} ${children}
      <label class="field">
        <span>Reason ${required ? "" : html`<em>(optional)</em>`}</span>
        <textarea ref=${field} rows="3" maxlength="500" required=${required}></textarea>
      </label>
      <${Notice} error=${error} onClose=${clear} />
      <div class="row end">
        <button type="button" onClick=${onClose}>Cancel</button>
        <button type="submit" class=${danger ? "danger" : "primary"} disabled=${busy}>${label}</button>
      </div>
    </form>
  <//>`;
}
