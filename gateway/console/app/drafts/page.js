// One draft: how long it lives, what was written in it, and the one way out.
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { to } from "../lib/router.js";
import { announce } from "../lib/announce.js";
import { endDraft } from "../api/drafts.js";
import { Conversation } from "../conversation/view.js";
import { createConversation } from "../conversation/model.js";
import { draftSource } from "../conversation/draft_source.js";
import { ReasonDialog } from "../parts/reason.js";
import { Menu } from "../parts/menu.js";
import { Countdown, Ago } from "../parts/time.js";
import { ExportDialog } from "./export.js";
import { Proposals } from "./proposals.js";
import { isActive, RETENTION, stateWord } from "./words.js";

const VERBS = {
  finalize: ["Finalize the draft", "Its work is done. What was exported stays in the ledger.", "Finalize"],
  discard: ["Discard the draft", "Nobody wants its result.", "Discard"],
  cancel: ["Cancel the draft", "Its work is broken off.", "Cancel the draft"],
};

export function DraftPage({ draftId }) {
  const conversation = useMemo(() => createConversation(draftSource(draftId)), [draftId]);
  const [draft, setDraft] = useState(null);
  const [asking, setAsking] = useState(null);
  const onLoaded = useCallback((state) => setDraft(state.draft), []);
  useExpiry(draft, conversation);
  const close = () => setAsking(null);
  const actions = (floor) => [
    draft && isActive(draft) && floor.outputPage && { label: "Export this answer…", icon: "upload", run: () => setAsking({ export: { page: floor.outputPage } }) },
  ];
  return html`<div class="session-page">
    <${Header} draft=${draft} onAsk=${setAsking} />
    <${Conversation} conversation=${conversation} onLoaded=${onLoaded} actions=${actions}
      intro=${draft && html`<${Proposals} draft=${draft} onExport=${(proposal) => setAsking({ export: { proposal } })} />`}
      footer=${draft && html`<${Over} draft=${draft} />`} />
    ${asking?.export && html`<${ExportDialog} draft=${draft} ...${asking.export} onClose=${close} onDone=${conversation.load} />`}
    ${asking?.end && html`<${End} draftId=${draftId} verb=${asking.end} onClose=${close} onDone=${conversation.load} />`}
  </div>`;
}

/** When its time is up the server says so; we ask then, not before. */
function useExpiry(draft, conversation) {
  useEffect(() => {
    if (!draft || !isActive(draft)) return undefined;
    const left = Date.parse(draft.expireTime) - Date.now() + 250;
    if (left > 2 ** 31 - 1) return undefined;
    const timer = setTimeout(async () => {
      await conversation.load();
      announce("The draft has expired.");
    }, Math.max(250, left));
    return () => clearTimeout(timer);
  }, [draft]);
}

function Header({ draft, onAsk }) {
  if (!draft) return html`<header class="bar"><h1 class="bar-title">…</h1></header>`;
  const active = isActive(draft);
  const items = Object.entries(VERBS).map(([verb, [, , label]]) => ({ label: `${label}…`, icon: verb === "finalize" ? "check" : "close", run: () => onAsk({ end: verb }) }));
  const source = draft.sourceSessionId;
  return html`<header class="bar draft-bar">
    <h1 class="bar-title">${draft.title || draft.purpose}</h1>
    <span class=${`badge ${stateWord(draft)}`}>${stateWord(draft)}</span>
    ${active && html`<button type="button" class="small primary" onClick=${() => onAsk({ export: {} })}>Export…</button>`}
    ${active && html`<${Menu} label="End the draft" items=${items} />`}
    <p class="bar-line fine">
      ${active && html`<${Countdown} time=${draft.expireTime} over="time is up" /> · `}${RETENTION[draft.retentionPolicy]}
      ${source ? html` · from <a href=${to(["s", source, "chat"])}>its conversation</a>` : " · from the project"}
    </p>
  </header>`;
}

function Over({ draft }) {
  return html`<div class="center quiet" role="status">
    <p>
      <strong>This draft is ${stateWord(draft)}.</strong>${draft.endReason ? ` ${draft.endReason}` : ""}
      ${draft.purgeTime && html` Its text can be read until it is purged, <${Ago} time=${draft.purgeTime} />.`}
    </p>
  </div>`;
}

function End({ draftId, verb, onClose, onDone }) {
  const [title, text, label] = VERBS[verb];
  const run = async (reason) => {
    await endDraft(draftId, verb, reason);
    await onDone();
  };
  return html`<${ReasonDialog} title=${title} text=${text} label=${label} danger=${verb !== "finalize"} run=${run} onClose=${onClose} />`;
}
