// The one way out of a draft: into the ledger, with a reason.
import { useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { clip } from "../lib/format.js";
import { go } from "../lib/router.js";
import { pageText } from "../lib/messages.js";
import { exportDraft } from "../api/drafts.js";
import { ReasonDialog } from "../parts/reason.js";

const PLACES = [
  ["PLACEMENT_OUTPUT_OF_FLOOR", "As another answer to the same message"],
  ["PLACEMENT_NEXT_FLOOR", "As the next turn"],
];

/** @param page The answer to export; without it the last one that can be. @param proposal Or what a model proposed. */
export function ExportDialog({ draft, page, proposal, onClose, onDone }) {
  const [placement, setPlacement] = useState(PLACES[0][0]);
  const [withInput, setWithInput] = useState(false);
  const [finalize, setFinalize] = useState(false);
  const toSession = Boolean(draft.sourceSessionId) && !proposal;
  const next = placement === "PLACEMENT_NEXT_FLOOR";
  const run = async (reason) => {
    const outputPage = { ...(page ? { pageId: page.pageId } : {}), ...(next && withInput ? { withInput } : {}) };
    const body = {
      target: toSession ? { placement } : {},
      parts: [proposal ? { proposalId: proposal.proposalId } : { outputPage }],
      finalize,
      reason,
    };
    const answer = await exportDraft(draft.draftId, body);
    await onDone();
    go(["ledger", answer.stagedWriteId]);
  };
  return html`<${ReasonDialog} title="Export to the ledger" label="Export" run=${run} onClose=${onClose}
    text="It waits there until somebody accepts it. Nothing changes before.">
    ${page && html`<blockquote class="quote">${clip(pageText(page), 240)}</blockquote>`}
    ${toSession &&
    html`<fieldset>
      <legend>Where to</legend>
      ${PLACES.map(
        ([value, label]) => html`<label class="choice">
          <input type="radio" name="placement" value=${value} checked=${placement === value} onChange=${() => setPlacement(value)} />
          <span>${label}</span>
        </label>`,
      )}
      ${next &&
      html`<label class="choice">
        <input type="checkbox" checked=${withInput} onChange=${(event) => setWithInput(event.target.checked)} />
        <span>With the message that it answers</span>
      </label>`}
    </fieldset>`}
    <label class="choice">
      <input type="checkbox" checked=${finalize} onChange=${(event) => setFinalize(event.target.checked)} />
      <span>Finalize the draft when it is staged</span>
    </label>
  <//>`;
}
