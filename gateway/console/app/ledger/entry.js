// One entry: what accepting it would do to the target as it is now, and the decision.
import { useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { to } from "../lib/router.js";
import { useAction, useLoaded } from "../lib/hooks.js";
import { announce } from "../lib/announce.js";
import { listBranches } from "../api/floors.js";
import { getSession } from "../api/sessions.js";
import { decideStaged, getStaged, previewStaged } from "../api/drafts.js";
import { Loaded, Notice } from "../parts/notice.js";
import { ReasonDialog } from "../parts/reason.js";
import { Ago } from "../parts/time.js";
import { Changes } from "./changes.js";
import { kindOf, stateWord } from "./words.js";

/** The preview, with where the target stands now: accepting names what one has seen. */
async function load(entryId) {
  const [preview, stagedWrite] = await Promise.all([previewStaged(entryId), getStaged(entryId)]);
  const { target } = stagedWrite;
  if (!target.sessionId) return { preview, entry: stagedWrite, head: "" };
  const [session, branches] = await Promise.all([getSession(target.sessionId), listBranches(target.sessionId)]);
  const branch = target.branch || "main";
  const head = branches.find((one) => one.name === branch)?.headFloorId ?? "";
  return { preview, entry: stagedWrite, session, branch, head };
}

export function Entry({ entryId }) {
  const loaded = useLoaded(() => load(entryId), [entryId]);
  return html`<p class="fine"><a href=${to(["ledger"])}>‹ Ledger</a></p>
    <${Loaded} of=${loaded}>${(found) => html`<${Body} ...${found} onChanged=${loaded.reload} />`}<//>`;
}

function Body({ preview, entry, session, branch, head, onChanged }) {
  const { stale, conflicts, diff } = preview;
  const [asking, setAsking] = useState("");
  const waiting = entry.state === "STAGED_WRITE_STATE_STAGED";
  const close = () => setAsking("");
  const decide = (verb) => async (reason) => {
    await decideStaged(entry.stagedWriteId, verb, { reason });
    announce(verb === "reject" ? "Rejected" : "Withdrawn");
    await onChanged();
  };
  return html`<article class="entry stack">
    <header class="row wrap">
      <h1 class="grow">${kindOf(entry)}</h1>
      <span class=${`badge ${stateWord(entry)}`}>${stateWord(entry)}</span>
    </header>
    <p class="fine">
      Staged by ${entry.stagedBy} <${Ago} time=${entry.createTime} />
      ${session && html` for <a href=${to(["s", session.sessionId, "chat"], { branch: branch === "main" ? "" : branch })}>${session.title || "Untitled"}</a>, branch ${branch}`}
      ${waiting && html` · waits until <${Ago} time=${entry.expireTime} />`}
    </p>
    ${entry.reason && html`<blockquote class="quote">${entry.reason}</blockquote>`}
    ${stale && waiting && html`<div class="notice" role="status"><div class="notice-text"><p><strong>The target moved since this was drafted.</strong></p><p>The difference below is against what is there now. You may accept it all the same.</p></div></div>`}
    ${waiting && conflicts.map((one) => html`<div class="notice" role="status"><div class="notice-text"><p>${one.message}</p><p class="fine">${one.reason}</p></div></div>`)}
    <${Changes} diff=${diff} parts=${entry.parts} />
    ${waiting ? html`<${Decide} entry=${entry} stale=${stale} head=${head} onAsk=${setAsking} onChanged=${onChanged} />` : html`<${Decided} entry=${entry} />`}
    ${asking === "reject" && html`<${ReasonDialog} title="Reject" label="Reject" required=${true} danger=${true} run=${decide("reject")} onClose=${close} />`}
    ${asking === "withdraw" && html`<${ReasonDialog} title="Withdraw" text="For whoever staged it: it is taken back." label="Withdraw" required=${true} run=${decide("withdraw")} onClose=${close} />`}
  </article>`;
}

function Decide({ entry, stale, head, onAsk, onChanged }) {
  const { target } = entry;
  const output = target.placement === "PLACEMENT_OUTPUT_OF_FLOOR";
  const [reason, setReason] = useState("");
  const [select, setSelect] = useState(true);
  const [allow, setAllow] = useState(false);
  const [accept, busy, error, clear] = useAction(async () => {
    const body = { reason, allowStale: allow, select: output && select };
    if (target.sessionId && target.placement !== "PLACEMENT_UNSPECIFIED") body.expectedHead = head;
    await decideStaged(entry.stagedWriteId, "accept", body);
    announce("Accepted");
    await onChanged();
  });
  const submit = (event) => {
    event.preventDefault();
    void accept();
  };
  const again = { label: "Look at it as it is now", run: () => (clear(), onChanged()) };
  return html`<form class="panel stack" onSubmit=${submit} aria-label="Decision">
    <label class="field">
      <span>Reason</span>
      <textarea rows="2" required maxlength="500" value=${reason} onInput=${(event) => setReason(event.target.value)}></textarea>
    </label>
    ${output && html`<label class="choice"><input type="checkbox" checked=${select} onChange=${(event) => setSelect(event.target.checked)} /><span>Show it on the branch at once</span></label>`}
    ${stale && html`<label class="choice"><input type="checkbox" checked=${allow} onChange=${(event) => setAllow(event.target.checked)} /><span>Accept it though the target moved</span></label>`}
    <${Notice} error=${error} actions=${[again]} onClose=${clear} />
    <div class="row end">
      <button type="button" onClick=${() => onAsk("withdraw")}>Withdraw…</button>
      <button type="button" class="danger" onClick=${() => onAsk("reject")}>Reject…</button>
      <button type="submit" class="primary" disabled=${busy}>Accept</button>
    </div>
  </form>`;
}

function Decided({ entry }) {
  const { target, resultFloorId } = entry;
  return html`<section class="panel stack" aria-label="Decision">
    <p>
      <strong>${stateWord(entry)}</strong> by ${entry.decidedBy} <${Ago} time=${entry.decideTime} />${entry.acceptedStale ? ", though the target had moved" : ""}
    </p>
    ${entry.decisionReason && html`<blockquote class="quote">${entry.decisionReason}</blockquote>`}
    ${resultFloorId && html`<p><a href=${to(["s", target.sessionId, "tree"], { floor: resultFloorId, branch: target.branch })}>Show it in the tree</a></p>`}
  </section>`;
}
