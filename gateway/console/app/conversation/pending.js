// The turn that is not finished: being written, waiting for somebody, or with candidates to choose from.
import { html } from "../lib/html.js";
import { LivePage, PageBody } from "./message.js";
import { Waiting } from "./waiting.js";

export function PendingTurn({ conversation, state, floor }) {
  const { run, candidates } = state;
  return html`<article class="turn pending" data-floor=${floor.floorId} aria-label="Unfinished turn">
    ${floor.inputPage && html`<div class="side input"><${PageBody} page=${floor.inputPage} /></div>`}
    <div class="side output">
      ${run ? html`<${Live} conversation=${conversation} state=${state} run=${run} />` : html`<${Choice} ...${{ conversation, state, floor, candidates }} />`}
    </div>
  </article>`;
}

function Live({ conversation, state, run }) {
  const writing = !run.end;
  const several = run.pages.length > 1;
  return html`<div class=${several ? "candidates" : ""} aria-busy=${writing ? "true" : "false"}>
      ${run.pages.map(
        (page, index) => html`<div class=${several ? "candidate" : ""} key=${page.pageId}>
          ${several && html`<p class="who">Candidate ${index + 1}</p>`}
          <${LivePage} page=${page} />
        </div>`,
      )}
    </div>
    ${writing && html`<p class="writing" aria-hidden="true"><span></span><span></span><span></span></p>`}
    ${run.end === "requiresAction" && html`<${Waiting} conversation=${conversation} state=${state} run=${run} />`}`;
}

/** Candidates side by side; an open turn without any can be answered. */
function Choice({ conversation, state, floor, candidates }) {
  if (!candidates) return html`<p class="quiet waiting">Loading…</p>`;
  const busy = Boolean(state.busy);
  const abandon =
    conversation.source.abandon &&
    html`<button type="button" disabled=${busy} onClick=${conversation.discard}>Discard the turn</button>`;
  if (!candidates.length) {
    return html`<div class="panel stack" role="group" aria-label="An open turn">
      <p>This turn has no answer yet.</p>
      <div class="row">
        <button type="button" class="primary" disabled=${busy} onClick=${() => conversation.resume(floor)}>Write one answer</button>
        <button type="button" disabled=${busy} onClick=${() => conversation.resume(floor, 3)}>Write three candidates</button>
        ${abandon}
      </div>
    </div>`;
  }
  return html`<div class="candidates" role="group" aria-label="Candidates">
      ${candidates.map(
        (page, index) => html`<section class="candidate" key=${page.pageId} aria-label=${`Candidate ${index + 1}`}>
          <p class="who">Candidate ${index + 1} of ${candidates.length}</p>
          <div class="grow"><${PageBody} page=${page} /></div>
          <button type="button" class="primary" disabled=${busy} onClick=${() => conversation.choose(page.pageId)}>
            Choose this one
          </button>
        </section>`,
      )}
    </div>
    <div class="row">
      <button type="button" disabled=${busy} onClick=${() => conversation.resume(floor, 1)}>One more</button>
      ${abandon}
    </div>`;
}
