// Begins a draft: from a turn, from a conversation's head, or from the project.
import { useRef, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { go } from "../lib/router.js";
import { useAction } from "../lib/hooks.js";
import { createDraft } from "../api/drafts.js";
import { Dialog } from "../parts/dialog.js";
import { Notice } from "../parts/notice.js";

const KEEP = [
  ["RETENTION_POLICY_DELETE_ON_FINALIZE", "Delete it soon after it ends"],
  ["RETENTION_POLICY_KEEP_FOR_DEBUG", "Keep it for debugging"],
  ["RETENTION_POLICY_TTL", "Only for a set time"],
];

/** @param floor The turn it begins at; without it, the head of `main`. */
export function NewDraft({ session, project = "default", floor, onClose }) {
  const form = useRef(null);
  const [policy, setPolicy] = useState(KEEP[0][0]);
  const [create, busy, error, clear] = useAction(async () => {
    const { draft } = await createDraft({ session, project }, bodyOf(new FormData(form.current), floor));
    onClose();
    go(["d", draft.draftId]);
  });
  const submit = (event) => {
    event.preventDefault();
    void create();
  };
  return html`<${Dialog} title="New draft" onClose=${onClose}>
    <form class="stack" ref=${form} onSubmit=${submit}>
      <label class="field"><span>Purpose</span><input name="purpose" required maxlength="120" autofocus autocomplete="off" placeholder="What is it for?" /></label>
      ${floor && html`<${Where} />`}
      <fieldset>
        <legend>Afterwards</legend>
        ${KEEP.map(
          ([value, label]) => html`<label class="choice">
            <input type="radio" name="policy" value=${value} checked=${policy === value} onChange=${() => setPolicy(value)} />
            <span>${label}</span>
          </label>`,
        )}
        ${policy === "RETENTION_POLICY_TTL" &&
        html`<label class="field"><span>Seconds to live</span><input name="ttl" type="number" min="1" max="86400" value="3600" required /></label>`}
      </fieldset>
      <details class="fold">
        <summary>More</summary>
        <div class="stack">
          <label class="field"><span>Instructions of its own</span><textarea name="prompt" rows="3"></textarea></label>
          ${session && html`<label class="choice"><input type="checkbox" name="history" checked /><span>With the history before it</span></label>`}
        </div>
      </details>
      <${Notice} error=${error} onClose=${clear} />
      <div class="row end">
        <button type="button" onClick=${onClose}>Cancel</button>
        <button type="submit" class="primary" disabled=${busy}>Begin</button>
      </div>
    </form>
  <//>`;
}

function Where() {
  return html`<fieldset>
    <legend>Where</legend>
    <label class="choice">
      <input type="radio" name="position" value="DRAFT_POSITION_REPLY_TO_FLOOR" checked />
      <span>Other answers to this turn’s message</span>
    </label>
    <label class="choice">
      <input type="radio" name="position" value="DRAFT_POSITION_AFTER_FLOOR" />
      <span>Go on after this turn</span>
    </label>
  </fieldset>`;
}

function bodyOf(data, floor) {
  const body = { purpose: data.get("purpose"), retentionPolicy: data.get("policy") };
  if (floor) Object.assign(body, { floorId: floor.floorId, position: data.get("position") });
  if (data.get("ttl")) body.ttl = `${data.get("ttl")}s`;
  if (data.get("prompt")) body.config = { systemPrompt: data.get("prompt") };
  // Absent where there is no history to speak of.
  const asked = document.querySelector("dialog input[name=history]");
  if (asked && !asked.checked) body.includeHistory = false;
  return body;
}
