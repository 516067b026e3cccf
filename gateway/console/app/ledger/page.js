// The ledger: what waits for a decision, and what was decided.
import { useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { clip } from "../lib/format.js";
import { to } from "../lib/router.js";
import { useLoaded, useTitle } from "../lib/hooks.js";
import { listStaged } from "../api/drafts.js";
import { Empty, Loaded } from "../parts/notice.js";
import { Ago } from "../parts/time.js";
import { Entry } from "./entry.js";
import { kindOf, stateWord } from "./words.js";

const STATES = [
  ["STAGED_WRITE_STATE_STAGED", "Waiting"],
  ["", "All"],
  ["STAGED_WRITE_STATE_ACCEPTED", "Accepted"],
  ["STAGED_WRITE_STATE_REJECTED", "Rejected"],
  ["STAGED_WRITE_STATE_WITHDRAWN", "Withdrawn"],
  ["STAGED_WRITE_STATE_EXPIRED", "Expired"],
];

export function LedgerPage({ entryId }) {
  useTitle("Ledger");
  return html`<div class="page">
    ${entryId ? html`<${Entry} key=${entryId} entryId=${entryId} />` : html`<h1>Ledger</h1><${Entries} query=${{ projectId: "default" }} />`}
  </div>`;
}

export function SessionLedger({ sessionId }) {
  return html`<div class="page"><h2>What waits for this conversation</h2><${Entries} query=${{ sessionId }} /></div>`;
}

function Entries({ query }) {
  const [state, setState] = useState(STATES[0][0]);
  const loaded = useLoaded(() => listStaged({ ...query, state }), [JSON.stringify(query), state]);
  return html`<div class="segments" role="group" aria-label="Which entries">
      ${STATES.map(
        ([value, label]) =>
          html`<button type="button" aria-pressed=${state === value ? "true" : "false"} onClick=${() => setState(value)}>${label}</button>`,
      )}
    </div>
    <${Loaded} of=${loaded}>${({ stagedWrites }) => html`<${List} entries=${stagedWrites} waiting=${state === STATES[0][0]} />`}<//>`;
}

function List({ entries, waiting }) {
  if (!entries.length) {
    return html`<${Empty} title=${waiting ? "Nothing waits" : "Nothing here"}>
      <p>What is exported from a draft waits here, until somebody accepts or rejects it with a reason.</p>
    <//>`;
  }
  return html`<ul class="cards" aria-label="Entries">
    ${entries.map(
      (one) => html`<li class="card" key=${one.stagedWriteId}>
        <a class="card-link" href=${to(["ledger", one.stagedWriteId])}>${one.reason ? clip(one.reason, 120) : kindOf(one)}</a>
        <span class=${`badge ${stateWord(one)}`}>${stateWord(one)}</span>
        <span class="fine grow-line">
          ${kindOf(one)} · by ${one.stagedBy} <${Ago} time=${one.createTime} />
          ${one.decidedBy && ` · ${stateWord(one)} by ${one.decidedBy}${one.decisionReason ? `: ${clip(one.decisionReason, 80)}` : ""}`}
        </span>
      </li>`,
    )}
  </ul>`;
}
