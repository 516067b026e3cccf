// Conversations by their latest activity, a page at a time.
import { useEffect, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { to } from "../lib/router.js";
import { useAction } from "../lib/hooks.js";
import { listSessions } from "../api/sessions.js";
import { Empty, Notice } from "../parts/notice.js";
import { Ago } from "../parts/time.js";
import { SessionMenu } from "./menu.js";
import { useChanges } from "./recent.js";

export function SessionList({ state, filter, archived, onNew }) {
  const [found, setFound] = useState(null);
  const [load, busy, error] = useAction(async (token) => {
    const answer = await listSessions({ state, token });
    setFound((last) => ({
      sessions: token ? [...last.sessions, ...answer.sessions] : answer.sessions,
      token: answer.nextPageToken,
    }));
  });
  const changes = useChanges();
  useEffect(() => void load(""), [state, changes]);
  if (!found) {
    if (!error) return html`<p class="quiet waiting" role="status">Loading…</p>`;
    return html`<${Notice} error=${error} actions=${[{ label: "Try again", run: () => load("") }]} />`;
  }
  const wanted = filter.toLowerCase();
  const shown = found.sessions.filter((one) => (one.title || "untitled").toLowerCase().includes(wanted));
  return html`<${Notice} error=${error} />
    ${!found.sessions.length && html`<${Nothing} archived=${archived} onNew=${onNew} />`}
    ${found.sessions.length > 0 && !shown.length && html`<p class="quiet">No title here has “${filter}”.</p>`}
    <ul class="cards" aria-label="Conversations">
      ${shown.map(
        (one) => html`<li class="card" key=${one.sessionId}>
          <a class="card-link" href=${to(["s", one.sessionId, "chat"])}>${one.title || "Untitled"}</a>
          <span class="fine"><${Ago} time=${one.lastActivityTime} /></span>
          <${SessionMenu} session=${one} />
        </li>`,
      )}
    </ul>
    ${found.token &&
    html`<p class="center"><button type="button" disabled=${busy} onClick=${() => load(found.token)}>More</button></p>`}`;
}

function Nothing({ archived, onNew }) {
  if (archived) return html`<${Empty} title="Nothing is archived"><p>Archived conversations can be read and restored here.</p><//>`;
  return html`<${Empty} title="No conversations yet">
    <p>Begin one, or drop files anywhere on this page: ChatGPT and Open Assistant exports, logs, Stemma’s own.</p>
    <button type="button" class="primary" onClick=${onNew}>New conversation</button>
  <//>`;
}
