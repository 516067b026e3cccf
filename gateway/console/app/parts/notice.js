// An error as something one can act on: what the server said, its reason, and what to do.
import { html } from "../lib/html.js";
import { adviceFor } from "../api/errors.js";
import { Icon, IconButton } from "./icons.js";

/** @param actions [{label, run}] Buttons beside the text. */
export function Notice({ error, actions = [], onClose }) {
  if (!error) return null;
  const advice = error.reason === undefined ? "Reload the page. If it happens again, report it." : adviceFor(error.reason);
  return html`<div class="notice" role="alert">
    <${Icon} name="warning" />
    <div class="notice-text">
      <p><strong>${error.message}</strong></p>
      ${error.violations?.length > 1 &&
      html`<ul>
        ${error.violations.map((one) => html`<li><code>${one.field}</code> ${one.description}</li>`)}
      </ul>`}
      ${advice && html`<p>${advice}</p>`}
      ${(error.reason || error.metadata?.error_id) &&
      html`<p class="fine">
        ${error.reason}${error.metadata?.error_id && ` · error id ${error.metadata.error_id}`}
      </p>`}
      ${actions.length > 0 &&
      html`<div class="row">
        ${actions.map((one) => html`<button type="button" class="small" onClick=${one.run}>${one.label}</button>`)}
      </div>`}
    </div>
    ${onClose && html`<${IconButton} icon="close" label="Dismiss" onClick=${onClose} />`}
  </div>`;
}

/** For a view that loads: what there is, else its error, else a quiet wait. */
export function Loaded({ of, children, actions = [] }) {
  if (of.value !== undefined) return html`<${Notice} error=${of.error} />${children(of.value)}`;
  if (of.error) {
    const retry = { label: "Try again", run: of.reload };
    return html`<${Notice} error=${of.error} actions=${[retry, ...actions]} />`;
  }
  return html`<p class="quiet waiting" role="status">Loading…</p>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><h2>${title}</h2>${children}</div>`;
}
