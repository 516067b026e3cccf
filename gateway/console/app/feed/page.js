// The live feed of a project: each committed fact once, in order, across broken connections.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { number, prettyJson } from "../lib/format.js";
import { to } from "../lib/router.js";
import { useTitle } from "../lib/hooks.js";
import { listEvents, watchEvents } from "../api/events.js";
import { Notice } from "../parts/notice.js";
import { Ago } from "../parts/time.js";

const FIRST = 50;
// More are a matter for ListEvents, not for eyes.
const MOST = 500;

export function FeedPage({ project }) {
  const [events, setEvents] = useState([]);
  const [state, setState] = useState("waiting");
  const [error, setError] = useState(null);
  const [paused, setPaused] = useState(false);
  const [filter, setFilter] = useState("");
  const last = useRef(null);
  useTitle("Feed");
  useEffect(() => {
    if (paused) return undefined;
    const closing = new AbortController();
    const add = (event) => {
      last.current = event.position;
      setEvents((known) => [event, ...known].slice(0, MOST));
    };
    follow(project, last.current, { add, onState: setState, signal: closing.signal }).catch((failure) => setError(failure));
    return () => closing.abort();
  }, [project, paused]);
  const shown = events.filter((one) => one.type.includes(filter));
  return html`<div class="page">
    <header class="page-head">
      <h1>Feed</h1>
      <div class="row">
        <span class=${`badge ${state === "live" && !paused ? "active" : ""}`} role="status">${paused ? "paused" : state === "live" ? "live" : "connecting"}</span>
        <button type="button" onClick=${() => setPaused(!paused)}>${paused ? "Go on" : "Pause"}</button>
      </div>
    </header>
    <div class="row filters">
      <label class="inline-field">
        <span>Only</span>
        <select value=${filter} onChange=${(event) => setFilter(event.target.value)}>
          <option value="">everything</option>
          ${["floor.", "head.", "branch.", "session.", "staged_write.", "state.", "config.", "project."].map((one) => html`<option value=${one}>${one}*</option>`)}
        </select>
      </label>
    </div>
    <${Notice} error=${error} actions=${[{ label: "Begin again", run: () => location.reload() }]} />
    ${!shown.length && html`<p class="quiet">Nothing yet. What happens shows here as it happens.</p>`}
    <ol class="feed" reversed aria-label="Events, newest first">
      ${shown.map((event) => html`<${Event} key=${event.position} event=${event} />`)}
    </ol>
  </div>`;
}

/** From `after` on; without it, the last few first. */
async function follow(project, after, { add, onState, signal }) {
  let position = after;
  if (position === null) {
    const { lastPosition } = await listEvents(project, 0, 1);
    position = String(Math.max(0, Number(lastPosition) - FIRST));
  }
  for await (const { event } of watchEvents(project, position, { signal, onState })) add(event);
}

function Event({ event }) {
  return html`<li class="event">
    <details>
      <summary>
        <span class="number fine">${number(event.position)}</span>
        <code>${event.type}</code>
        <span class="grow"></span>
        <span class="fine"><${Ago} time=${event.commitTime} /></span>
      </summary>
      ${event.sessionId && html`<p><a href=${to(["s", event.sessionId, event.floorId ? "tree" : "chat"], { floor: event.floorId })}>Show it</a></p>`}
      <pre tabindex="0">${prettyJson(event.payloadJson || "{}")}</pre>
    </details>
  </li>`;
}
