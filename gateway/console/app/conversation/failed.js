// A turn that failed, with what was written of it, and the way on.
import { html } from "../lib/html.js";
import { adviceFor } from "../api/errors.js";
import { pageText } from "../lib/messages.js";
import { Icon } from "../parts/icons.js";
import { PageBody } from "./message.js";
import { Editor } from "./editor.js";

export function FailedTurn({ conversation, state, floor }) {
  const editing = state.editing?.floorId === floor.floorId;
  const busy = Boolean(state.busy);
  return html`<article class="turn failed" data-floor=${floor.floorId} aria-label="Failed turn">
    ${floor.inputPage &&
    html`<div class="side input">
      ${editing
        ? html`<${Editor}
            label="Edit your message"
            text=${pageText(floor.inputPage)}
            action="Send"
            busy=${busy}
            onSave=${(text) => conversation.edit(floor, text)}
            onCancel=${conversation.endEdit}
          />`
        : html`<${PageBody} page=${floor.inputPage} />`}
    </div>`}
    <div class="side output">
      ${floor.outputPage && html`<${PageBody} page=${floor.outputPage} />`}
      <div class="notice" role="status">
        <${Icon} name="warning" />
        <div class="notice-text">
          <p><strong>This turn failed.</strong> ${adviceFor(floor.failureReason) || "Nothing of it is sent to the model."}</p>
          <p class="fine">${floor.failureReason}</p>
          ${state.writable &&
          html`<div class="row">
            <button type="button" class="small primary" disabled=${busy} onClick=${() => conversation.regenerate(floor)}>Retry</button>
            <button type="button" class="small" disabled=${busy} onClick=${() => conversation.startEdit(floor, "input")}>Edit</button>
            <button type="button" class="small" onClick=${conversation.dismissFailed}>Leave it</button>
          </div>`}
        </div>
      </div>
    </div>
  </article>`;
}
