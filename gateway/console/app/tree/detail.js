// One turn of the tree, looked at: what it says, and what can be done from there.
import { useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { enumWord } from "../lib/format.js";
import { go, to } from "../lib/router.js";
import { announce } from "../lib/announce.js";
import { useAction, useLoaded } from "../lib/hooks.js";
import { hasEffects } from "../lib/messages.js";
import { getFloor, moveHead } from "../api/floors.js";
import { PageBody } from "../conversation/message.js";
import { EffectsLine } from "../conversation/effects.js";
import { NewBranch } from "../parts/branch_menu.js";
import { IconButton } from "../parts/icons.js";
import { Loaded, Notice } from "../parts/notice.js";
import { Ago } from "../parts/time.js";
import { stateOf } from "./shape.js";

export function Detail({ node, sessionId, branch, head, onChanged, onClose }) {
  const { floor } = node;
  const loaded = useLoaded(() => getFloor(floor.floorId), [floor.floorId]);
  const [naming, setNaming] = useState(false);
  const [move, busy, error, clear] = useAction(async () => {
    await moveHead(sessionId, branch, { floorId: floor.floorId, expectedHead: head });
    announce(`The head of ${branch} is here now.`);
    await onChanged();
  });
  const standing = floor.state === "FLOOR_STATE_COMMITTED" || floor.depth === 0;
  const moved = error?.reason === "HEAD_MOVED";
  const remedies = moved ? [{ label: "Look at the new head", run: () => (clear(), onChanged()) }] : [];
  const query = { floor: floor.floorId, branch };
  return html`<aside class="detail" aria-label="The chosen turn">
    <header class="row">
      <h2 class="grow">${floor.depth === 0 ? "Beginning" : `Turn ${floor.depth}`}</h2>
      <${IconButton} icon="close" label="Close" onClick=${onClose} />
    </header>
    <p class="fine">
      ${DESCRIPTIONS[stateOf(node)]} · ${enumWord(floor.state, "FLOOR_STATE_")} <${Ago} time=${floor.commitTime ?? floor.createTime} />
    </p>
    <div class="row wrap">
      ${standing &&
      html`<button type="button" class="small primary" disabled=${busy || head === floor.floorId} onClick=${move}>
          ${head === floor.floorId ? "The head is here" : "Move the head here"}
        </button>
        <button type="button" class="small" onClick=${() => setNaming(true)}>Branch here…</button>`}
      ${floor.depth > 0 && html`<a class="button small" href=${to(["s", sessionId, "context"], query)}>Context</a>`}
    </div>
    <${Notice} error=${error} actions=${remedies} onClose=${clear} />
    <div class="detail-body" tabindex="0" role="region" aria-label="What it says">
      <${Loaded} of=${loaded}>
        ${({ floor: whole }) => html`
          ${whole.inputPage && html`<div class="side input"><${PageBody} page=${whole.inputPage} /></div>`}
          ${hasEffects(whole.effects) && html`<${EffectsLine} effects=${whole.effects} />`}
          ${whole.outputPage && html`<div class="side output"><${PageBody} page=${whole.outputPage} /></div>`}
          ${floor.depth === 0 && html`<p class="quiet">Before the first turn. Move the head here to begin anew.</p>`}
        `}
      <//>
    </div>
    ${naming &&
    html`<${NewBranch} sessionId=${sessionId} floorId=${floor.floorId} onClose=${() => setNaming(false)}
      onDone=${(name) => go(["s", sessionId, "chat"], { branch: name })} />`}
  </aside>`;
}

const DESCRIPTIONS = {
  active: "On the active path",
  elsewhere: "On another branch",
  abandoned: "Abandoned: the model never sees it",
  failed: "Failed: the model never sees it",
};
