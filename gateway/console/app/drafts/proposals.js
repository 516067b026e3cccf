// Changes that a model proposed in the draft: of configuration or of state.
import { html } from "../lib/html.js";
import { prettyJson } from "../lib/format.js";
import { useLoaded } from "../lib/hooks.js";
import { listProposals } from "../api/drafts.js";
import { isActive } from "./words.js";

export function Proposals({ draft, onExport }) {
  const loaded = useLoaded(() => listProposals(draft.draftId), [draft.draftId, draft.lastActivityTime]);
  const proposals = loaded.value?.proposals ?? [];
  if (!proposals.length) return null;
  return html`<section class="panel stack" aria-label="Proposals">
    <h2>Proposals</h2>
    ${proposals.map(
      (one) => html`<div class="stack" key=${one.proposalId}>
        <p><strong>${one.configPatch ? "A change of the configuration" : "A change of the state"}</strong></p>
        <pre tabindex="0">${one.configPatch ? prettyJson(one.configPatch.operationsJson) : JSON.stringify(one.statePatch.effects, null, 2)}</pre>
        ${isActive(draft) && html`<div class="row"><button type="button" class="small" onClick=${() => onExport(one)}>Export…</button></div>`}
      </div>`,
    )}
  </section>`;
}
