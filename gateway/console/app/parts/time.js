// Times that say how long ago, and exactly when to whoever rests on them.
import { html } from "../lib/html.js";
import { ago, duration, fullTime } from "../lib/format.js";
import { useNow } from "../lib/hooks.js";

export function Ago({ time }) {
  const now = useNow(30_000);
  return time ? html`<time datetime=${time} title=${fullTime(time)}>${ago(time, now)}</time>` : null;
}

/** What is left until `time`; `over` when nothing is. */
export function Countdown({ time, over = "over" }) {
  const now = useNow(500);
  const left = (Date.parse(time) - now) / 1000;
  const soon = left < 60 ? "soon" : "";
  return html`<time class=${`countdown ${soon}`} datetime=${time} title=${fullTime(time)}>
    ${left > 0 ? `${duration(left)} left` : over}
  </time>`;
}
