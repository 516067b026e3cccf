// Drafts: those of a conversation, or all that one may see.
import { useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { to } from "../lib/router.js";
import { useLoaded, useTitle } from "../lib/hooks.js";
import { listDrafts } from "../api/drafts.js";
import { Icon } from "../parts/icons.js";
import { Empty, Loaded } from "../parts/notice.js";
import { Ago, Countdown } from "../parts/time.js";
import { NewDraft } from "./create.js";
import { isActive, RETENTION, stateWord } from "./words.js";

export function DraftsPage() {
  useTitle("Drafts");
  return html`<div class="page"><${Drafts} heading=${html`<h1>Drafts</h1>`} project="default" /></div>`;
}

export function SessionDrafts({ sessionId }) {
  return html`<div class="page"><${Drafts} heading=${html`<h2>Drafts of this conversation</h2>`} session=${sessionId} /></div>`;
}

function Drafts({ heading, session, project }) {
  const loaded = useLoaded(() => listDrafts(session ? { sessionId: session } : {}), [session]);
  const [creating, setCreating] = useState(false);
  return html`<header class="page-head">
      ${heading}
      <button type="button" class="primary" onClick=${() => setCreating(true)}>
        <${Icon} name="plus" />${session ? "Draft from the head" : "Draft from the project"}
      </button>
    </header>
    <p class="quiet">
      A draft is a conversation on the side. Nothing in it reaches a real one, until you export it and somebody accepts it in
      the ledger.
    </p>
    <${Loaded} of=${loaded}>${({ drafts }) => html`<${List} drafts=${drafts} />`}<//>
    ${creating && html`<${NewDraft} session=${session} project=${project} onClose=${() => setCreating(false)} />`}`;
}

function List({ drafts }) {
  if (!drafts.length) return html`<${Empty} title="No drafts"><p>Begin one here, or from any turn of a conversation.</p><//>`;
  return html`<ul class="cards" aria-label="Drafts">
    ${drafts.map(
      (draft) => html`<li class="card" key=${draft.draftId}>
        <a class="card-link" href=${to(["d", draft.draftId])}>${draft.title || draft.purpose}</a>
        <span class=${`badge ${stateWord(draft)}`}>${stateWord(draft)}</span>
        <span class="fine grow-line">
          ${draft.title ? `${draft.purpose} · ` : ""}${RETENTION[draft.retentionPolicy]} · begun <${Ago} time=${draft.createTime} />
        </span>
        ${isActive(draft) && html`<span class="fine"><${Countdown} time=${draft.expireTime} over="expired" /></span>`}
      </li>`,
    )}
  </ul>`;
}
