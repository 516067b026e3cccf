// What accepting would change, place by place; and what the parts hold.
import { html } from "../lib/html.js";
import { prettyJson } from "../lib/format.js";
import { Message } from "../conversation/message.js";

export function Changes({ diff, parts }) {
  const changes = diff?.changes ?? [];
  const pages = parts.filter((part) => part.outputPage);
  return html`<section class="stack" aria-label="What it would change">
    ${pages.map(
      ({ outputPage }) => html`<div class="panel">
        ${outputPage.input.map((message) => html`<div class="side input"><${Message} message=${message} /></div>`)}
        ${outputPage.output.map((message) => html`<div class="side output"><${Message} message=${message} /></div>`)}
      </div>`,
    )}
    ${changes.length > 0 &&
    html`<details class="fold" open=${pages.length === 0}>
      <summary>Difference against the target now</summary>
      <ul class="change-list">
        ${changes.map(
          (one) => html`<li>
            <p><code>${one.path}</code></p>
            ${one.before && html`<pre class="removed" tabindex="0">${prettyJson(one.before)}</pre>`}
            ${one.after && html`<pre class="added" tabindex="0">${prettyJson(one.after)}</pre>`}
          </li>`,
        )}
      </ul>
    </details>`}
    ${changes.length === 0 && diff?.text && html`<pre tabindex="0">${diff.text}</pre>`}
  </section>`;
}
