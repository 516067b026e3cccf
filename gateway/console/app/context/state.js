// Variables, memory and slots at a turn, and what that turn changed.
import { html } from "../lib/html.js";
import { enumWord, prettyJson } from "../lib/format.js";
import { useLoaded } from "../lib/hooks.js";
import { getFloor } from "../api/floors.js";
import { getState } from "../api/contexts.js";
import { Loaded } from "../parts/notice.js";
import { changes } from "./changes.js";

async function load(sessionId, branch, floorId) {
  if (!floorId) return { now: await getState(sessionId, { branch }), before: null };
  const { floor } = await getFloor(floorId);
  const committed = floor.state === "FLOOR_STATE_COMMITTED" || floor.depth === 0;
  // A turn that is not finished has changed nothing yet: its parent's state is what it stands on.
  const now = await getState(sessionId, { floorId: committed ? floorId : floor.parentFloorId });
  const before = committed && floor.parentFloorId ? await getState(sessionId, { floorId: floor.parentFloorId }) : null;
  return { now, before };
}

export function StatePanel({ sessionId, branch, floorId }) {
  const loaded = useLoaded(() => load(sessionId, branch, floorId), [sessionId, branch, floorId]);
  return html`<section class="state-panel" aria-label="State">
    <h2>State</h2>
    <${Loaded} of=${loaded}>${({ now, before }) => html`<${State} now=${now} changed=${before && changes(before, now)} />`}<//>
  </section>`;
}

function State({ now, changed }) {
  return html`
    ${changed &&
    html`<h3>Changed by this turn</h3>
      ${!changed.length && html`<p class="quiet">Nothing.</p>`}
      <ul class="diff-list">
        ${changed.map(
          (one) => html`<li class=${one.before === undefined ? "added" : one.after === undefined ? "removed" : "changed"}>
            <span class="role">${one.name}</span>
            <span class="grow pre">${one.before ?? ""}${one.before !== undefined && one.after !== undefined ? " → " : ""}${one.after ?? ""}</span>
          </li>`,
        )}
      </ul>`}
    <h3>Variables</h3>
    ${!now.variables.length && html`<p class="quiet">None.</p>`}
    <dl class="pairs">
      ${now.variables.map(
        (one) => html`<div>
          <dt><code>${one.key}</code> <span class="fine">${enumWord(one.scope, "SCOPE_")}</span></dt>
          <dd><pre>${prettyJson(one.valueJson)}</pre></dd>
        </div>`,
      )}
    </dl>
    <h3>Memory</h3>
    ${!now.memory.length && html`<p class="quiet">Nothing is remembered.</p>`}
    <ul class="plain-list">
      ${now.memory.map(
        (one) => html`<li>
          <p>${one.text}</p>
          <p class="fine">${enumWord(one.kind, "MEMORY_KIND_")}${one.factKey ? ` · ${one.factKey}` : ""}${one.source ? ` · from ${one.source}` : ""}</p>
        </li>`,
      )}
    </ul>
    ${now.slots.length > 0 &&
    html`<h3>Slots</h3>
      <dl class="pairs">
        ${now.slots.map((one) => html`<div><dt><code>${one.namespace}.${one.slot}</code></dt><dd><pre>${prettyJson(one.valueJson)}</pre></dd></div>`)}
      </dl>`}
  `;
}
