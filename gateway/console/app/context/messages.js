// A context, message by message, and what is not in it.
import { html } from "../lib/html.js";
import { clip, enumWord, number } from "../lib/format.js";
import { useLoaded } from "../lib/hooks.js";
import { floorLine } from "../lib/messages.js";
import { getFloor } from "../api/floors.js";
import { Part } from "../conversation/message.js";

const WHY = {
  system_prompt: "system prompt",
  memory: "remembered",
  path: "on the path",
  pending: "the unfinished turn",
  input: "given now",
  closed_call: "stands for a missing result",
  hidden: "hidden from the model",
  budget: "did not fit the budget",
  summary: "a summary stands for it",
  memory_budget: "did not fit the memory’s budget",
  memory_policy: "the memory policy keeps it back",
  unpaired: "a result without its call",
};

export function Messages({ messages, explanation }) {
  const { entries, leftOut, missingVariables } = explanation;
  return html`
    ${missingVariables.length > 0 &&
    html`<p class="notice info">The prompt’s template names variables that do not exist: ${missingVariables.join(", ")}</p>`}
    ${messages.length === 0 && html`<p class="quiet">Nothing yet: neither a system prompt nor a turn.</p>`}
    <ol class="context-list" aria-label="Messages, in order">
      ${messages.map(
        (message, index) => html`<li class=${`context-message ${enumWord(message.role, "ROLE_")}`} key=${index}>
          <p class="context-meta">
            <span class="role">${enumWord(message.role, "ROLE_")}${message.name ? ` · ${message.name}` : ""}</span>
            <span class="grow fine">${WHY[entries[index]?.why] ?? entries[index]?.why}</span>
            <span class="fine number">${number(entries[index]?.tokens)}</span>
          </p>
          ${message.parts.map((part) => html`<${Part} part=${part} />`)}
        </li>`,
      )}
    </ol>
    <section aria-label="Left out">
      <h3>Left out</h3>
      ${leftOut.length === 0 && html`<p class="quiet">Nothing of the path was left out.</p>`}
      <ul class="plain-list">
        ${leftOut.map((one) => html`<${LeftOut} key=${one.floorId + one.messageId + one.memoryId} of=${one} />`)}
      </ul>
    </section>
  `;
}

function LeftOut({ of }) {
  const floor = useLoaded(() => (of.floorId && !of.memoryId ? getFloor(of.floorId) : Promise.resolve(null)), [of.floorId]);
  const text = of.memoryId ? "A remembered item" : floor.value ? clip(floorLine(floor.value.floor), 90) : "A turn";
  return html`<li class="row">
    <span class="grow clip">${text}</span>
    <span class="fine">${WHY[of.why] ?? of.why}</span>
    <span class="fine number">${number(of.tokens)}</span>
  </li>`;
}
