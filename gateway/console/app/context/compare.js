// Two contexts: what one has and the other has not.
import { html } from "../lib/html.js";
import { enumWord, number, plural } from "../lib/format.js";
import { useLoaded } from "../lib/hooks.js";
import { textOf } from "../lib/messages.js";
import { diffContexts, explainFloor } from "../api/contexts.js";
import { Loaded } from "../parts/notice.js";

async function load(left, right) {
  const [diff, a, b] = await Promise.all([diffContexts(left, right), explainFloor(left), explainFloor(right)]);
  return { diff, texts: { left: textsOf(a), right: textsOf(b) } };
}

/** Messages by what names them in an explanation: the diff has entries without texts. */
function textsOf({ messages, explanation }) {
  return new Map(explanation.entries.map((entry, index) => [keyOf(entry), messages[index]]));
}

const keyOf = (entry) => entry.messageId || entry.memoryId || entry.why;

export function Compare({ left, right }) {
  const loaded = useLoaded(() => load(left, right), [left, right]);
  return html`<${Loaded} of=${loaded}>
    ${({ diff, texts }) => html`<section aria-label="Comparison">
      <h2>From ${number(diff.left.tokensIn)} to ${number(diff.right.tokensIn)} tokens</h2>
      <p class="fine">
        ${diff.left.configVersion === diff.right.configVersion ? "The same configuration." : "Another configuration."}
        ${" "}${diff.left.liveVersion === diff.right.liveVersion ? "The same live values." : "Other live values."}
      </p>
      <${Entries} title="Only before" sign="removed" entries=${diff.removed} texts=${texts.left} />
      <${Entries} title="Only now" sign="added" entries=${diff.added} texts=${texts.right} />
      <details class="fold">
        <summary>${plural(diff.kept.length, "message")} in both</summary>
        <${Entries} sign="kept" entries=${diff.kept} texts=${texts.right} />
      </details>
    </section>`}
  <//>`;
}

function Entries({ title, sign, entries, texts }) {
  return html`${title && html`<h3>${title}</h3>`}
    ${!entries.length && html`<p class="quiet">Nothing.</p>`}
    <ul class="diff-list">
      ${entries.map((entry) => {
        const message = texts.get(keyOf(entry));
        return html`<li class=${sign} key=${keyOf(entry)}>
          <span class="role">${message ? enumWord(message.role, "ROLE_") : entry.why}</span>
          <span class="grow pre">${message ? textOf(message) || "(no text)" : ""}</span>
          <span class="fine number">${number(entry.tokens)}</span>
        </li>`;
      })}
    </ul>`;
}
