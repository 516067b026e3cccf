// The token tax: what was sent, what was left out of the path, and what a plain log would have sent besides.
import { html } from "../lib/html.js";
import { number, tokens } from "../lib/format.js";

export function Tax({ explanation }) {
  const sent = Number(explanation.tokensIn);
  const abandoned = Number(explanation.tokensAbandoned);
  const left = explanation.leftOut.reduce((sum, one) => sum + one.tokens, 0);
  const all = Math.max(1, sent + abandoned + left);
  const share = (part) => ({ "flex-grow": String(part / all) });
  const label = `${tokens(sent)} sent, ${number(left)} left out, ${number(abandoned)} of abandoned turns not sent`;
  return html`<figure class="tax">
    <div class="tax-bar" role="img" aria-label=${label}>
      ${sent > 0 && html`<span class="sent" style=${share(sent)}></span>`}
      ${left > 0 && html`<span class="left-out" style=${share(left)}></span>`}
      ${abandoned > 0 && html`<span class="abandoned" style=${share(abandoned)}></span>`}
    </div>
    <figcaption>
      <span class="key sent">${number(sent)} sent</span>
      <span class="key left-out">${number(left)} left out</span>
      <span class="key abandoned">${number(abandoned)} token tax avoided</span>
      <span class="fine">counted by ${explanation.tokenCounter || "nobody"}</span>
    </figcaption>
  </figure>`;
}
