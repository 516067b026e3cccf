// The row under each side of a turn: versions, and what can be done.
import { html } from "../lib/html.js";
import { pageText } from "../lib/messages.js";
import { announce } from "../lib/announce.js";
import { Icon, IconButton } from "../parts/icons.js";
import { Menu } from "../parts/menu.js";
import { usageLine } from "./effects.js";

/** ‹ 2/3 ›: nothing when there is one version. */
export function Versions({ side, index, count, busy, onStep }) {
  if (!(count > 1)) return null;
  const what = side === "input" ? "message" : "answer";
  return html`<div class="versions" role="group" aria-label=${`Versions of the ${what}`}>
    <${IconButton} icon="left" label=${`Previous version of the ${what}`} disabled=${busy || index <= 1} onClick=${() => onStep(-1)} />
    <span>${index}/${count}</span>
    <${IconButton} icon="right" label=${`Next version of the ${what}`} disabled=${busy || index >= count} onClick=${() => onStep(1)} />
  </div>`;
}

export function InputTools({ conversation, state, floor, position }) {
  if (floor.frozen) return null;
  const busy = Boolean(state.busy || state.pending);
  return html`<div class="tools">
    <${Versions} side="input" index=${position?.inputIndex} count=${position?.inputCount} busy=${busy}
      onStep=${(by) => conversation.step(floor, "input", by)} />
    <${Copy} page=${floor.inputPage} />
    ${state.writable &&
    html`<${IconButton} icon="edit" label="Edit" disabled=${busy} onClick=${() => conversation.startEdit(floor, "input")} />`}
  </div>`;
}

export function AnswerTools({ conversation, state, floor, position, last, actions }) {
  if (floor.frozen) return null;
  const busy = Boolean(state.busy || state.pending);
  const { writable } = state;
  const items = [
    writable && !last && { label: "Roll back to here", icon: "undo", disabled: busy, run: () => conversation.moveTo(floor.floorId) },
    writable && floor.outputPage && { label: "Edit the answer", icon: "edit", disabled: busy, run: () => conversation.startEdit(floor, "output") },
    writable && { label: "Three more to choose from", icon: "layers", disabled: busy, run: () => conversation.regenerate(floor, 3) },
    ...(actions?.(floor) ?? []),
  ];
  return html`<div class="tools">
    <${Versions} side="output" index=${position?.outputIndex} count=${position?.outputCount} busy=${busy}
      onStep=${(by) => conversation.step(floor, "output", by)} />
    ${floor.outputPage && html`<${Copy} page=${floor.outputPage} />`}
    ${writable &&
    html`<${IconButton} icon="retry" label="Regenerate" disabled=${busy} onClick=${() => conversation.regenerate(floor)} />`}
    <${Menu} label="More" items=${items} align="start" />
    <span class="fine usage">${usageLine(floor)}</span>
  </div>`;
}

function Copy({ page }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(pageText(page));
      announce("Copied");
    } catch {
      announce("The browser does not allow copying here.");
    }
  };
  return html`<button type="button" class="icon-button" aria-label="Copy" title="Copy" onClick=${copy}><${Icon} name="copy" /></button>`;
}
