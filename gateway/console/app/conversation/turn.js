// One committed turn: what was said, what was answered, and what can be done about either.
import { html } from "../lib/html.js";
import { hasEffects, pageText } from "../lib/messages.js";
import { PageBody } from "./message.js";
import { Editor } from "./editor.js";
import { EffectsLine } from "./effects.js";
import { AnswerTools, InputTools } from "./tools.js";

export function Turn({ conversation, state, floor, last, actions }) {
  const { editing } = state;
  const edits = (side) => editing?.floorId === floor.floorId && editing.side === side;
  const position = state.positions[floor.floorId];
  const common = { conversation, state, floor, position, last, actions };
  return html`<article class=${`turn ${floor.frozen ? "frozen" : ""}`} data-floor=${floor.floorId} aria-label=${`Turn ${floor.depth}`}>
    ${floor.inputPage &&
    html`<div class="side input">
      ${edits("input")
        ? html`<${Editor}
            label="Edit your message"
            text=${pageText(floor.inputPage)}
            action="Send"
            busy=${state.busy}
            onSave=${(text) => conversation.edit(floor, text)}
            onCancel=${conversation.endEdit}
          />`
        : html`<${PageBody} page=${floor.inputPage} /><${InputTools} ...${common} />`}
    </div>`}
    ${hasEffects(floor.effects) && html`<${EffectsLine} effects=${floor.effects} />`}
    ${(floor.outputPage || !floor.inputPage) &&
    html`<div class="side output">
      ${edits("output")
        ? html`<${Editor}
            label="Edit the answer"
            text=${pageText(floor.outputPage)}
            action="Save as a version"
            busy=${state.busy}
            onSave=${(text) => conversation.editAnswer(floor, text)}
            onCancel=${conversation.endEdit}
          />`
        : html`${floor.outputPage && html`<${PageBody} page=${floor.outputPage} />`}
            ${floor.outputPage?.partial && html`<${Partial} ...${common} />`}
            <${AnswerTools} ...${common} />`}
    </div>`}
    ${!floor.outputPage && floor.inputPage && html`<div class="side output"><${AnswerTools} ...${common} /></div>`}
  </article>`;
}

function Partial({ conversation, state, floor }) {
  return html`<p class="badge-line">
    <span class="badge warn">Stopped early</span>
    ${state.writable &&
    html`<button type="button" class="small" disabled=${state.busy} onClick=${() => conversation.regenerate(floor)}>
      Try again
    </button>`}
  </p>`;
}
