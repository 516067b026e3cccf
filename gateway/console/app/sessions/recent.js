// The latest conversations, in the navigation.
import { useEffect, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { to } from "../lib/router.js";
import { createStore, useStore } from "../lib/store.js";
import { listSessions } from "../api/sessions.js";
import { apiKey } from "../api/key.js";

const version = createStore(0);

/** To be called when a conversation was made, renamed or deleted. */
export function changed() {
  version.set((last) => last + 1);
}

/** A number that is another after each such change. */
export const useChanges = () => useStore(version);

export function RecentSessions({ current }) {
  const [sessions, setSessions] = useState([]);
  const seen = useChanges();
  const key = useStore(apiKey);
  useEffect(() => {
    let late = false;
    listSessions({ pageSize: 12, state: "SESSION_STATE_ACTIVE" }).then(
      (answer) => late || setSessions(answer.sessions),
      // The view itself says what is wrong.
      () => late || setSessions([]),
    );
    return () => {
      late = true;
    };
  }, [seen, key, current]);
  if (!sessions.length) return html`<div class="recent"></div>`;
  return html`<div class="recent">
    <h2>Recent</h2>
    <ul>
      ${sessions.map(
        (one) => html`<li key=${one.sessionId}>
          <a href=${to(["s", one.sessionId, "chat"])} aria-current=${one.sessionId === current ? "true" : undefined}>
            ${one.title || "Untitled"}
          </a>
        </li>`,
      )}
    </ul>
  </div>`;
}
