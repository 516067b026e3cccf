// Calls that wait for a person: approve or refuse them, or give their results.
import { useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { prettyJson } from "../lib/format.js";

export function Waiting({ conversation, state, run }) {
  const approval = run.kind === "ACTION_KIND_APPROVAL";
  const [given, setGiven] = useState({});
  const whole = run.calls.every((call) => approval || given[call.callId] !== undefined);
  const decide = (approve) =>
    conversation.submit({ approvals: run.calls.map(({ callId }) => ({ callId, approve })) });
  const answer = () =>
    conversation.submit({ results: run.calls.map(({ callId }) => ({ callId, content: given[callId] })) });
  return html`<div class="panel stack" role="group" aria-label="The model waits for you">
    <p><strong>${approval ? "May the model do this?" : "The model needs a result from you."}</strong></p>
    ${run.calls.map(
      (call) => html`<div class="stack" key=${call.callId}>
        <p><code>${call.name}</code></p>
        <pre tabindex="0">${prettyJson(call.argumentsJson || "{}")}</pre>
        ${!approval &&
        html`<label class="field">
          <span>Result of ${call.name}</span>
          <textarea rows="3" onInput=${(event) => setGiven({ ...given, [call.callId]: event.target.value })}></textarea>
        </label>`}
      </div>`,
    )}
    <div class="row">
      ${approval
        ? html`<button type="button" class="primary" disabled=${state.busy} onClick=${() => decide(true)}>Approve</button>
            <button type="button" disabled=${state.busy} onClick=${() => decide(false)}>Refuse</button>`
        : html`<button type="button" class="primary" disabled=${state.busy || !whole} onClick=${answer}>Send the result</button>`}
    </div>
  </div>`;
}
