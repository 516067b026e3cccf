// What a turn did besides talking, and what it took.
import { html } from "../lib/html.js";
import { enumWord, tokens } from "../lib/format.js";

/** What the turn did to the state, in a line. */
export function EffectsLine({ effects }) {
  const parts = [
    ...(effects.variables ?? []).map((one) => `${one.key} ${one.delete ? "removed" : `= ${one.valueJson}`}`),
    ...(effects.memory ?? []).map((one) => `${enumWord(one.op, "MEMORY_OP_")} memory: ${one.text || one.memoryId}`),
    ...(effects.slots ?? []).map((one) => `${one.namespace}.${one.slot}`),
  ];
  return html`<details class="effects">
    <summary>${parts.length === 1 ? "1 change of state" : `${parts.length} changes of state`}</summary>
    <ul>
      ${parts.map((one) => html`<li>${one}</li>`)}
    </ul>
  </details>`;
}

export function usageLine(floor) {
  const usage = floor.usage;
  if (!usage) return "";
  const sum = tokens(Number(usage.tokensIn) + Number(usage.tokensOut));
  return `${sum}${usage.estimated ? ", estimated" : ""}`;
}
