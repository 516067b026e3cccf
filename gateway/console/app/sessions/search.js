// Messages that have all the words, on whatever branch.
import { useEffect, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { enumWord, plural } from "../lib/format.js";
import { to } from "../lib/router.js";
import { searchMessages } from "../api/sessions.js";
import { Notice } from "../parts/notice.js";

const WAIT = 200;

export function SearchResults({ query }) {
  const [found, setFound] = useState({ hits: null, error: null });
  useEffect(() => {
    const closing = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const answer = await searchMessages(query, { project: "default" }, closing.signal);
        setFound({ hits: answer.hits, error: null });
      } catch (error) {
        if (!closing.signal.aborted) setFound({ hits: null, error });
      }
    }, WAIT);
    return () => {
      clearTimeout(timer);
      closing.abort();
    };
  }, [query]);
  const { hits, error } = found;
  return html`<section aria-label="Messages found" class="found">
    <h2 role="status">${hits ? `${plural(hits.length, "message")} found` : error ? "Messages" : "Searching…"}</h2>
    <${Notice} error=${error} />
    <ul class="cards">
      ${hits?.map(
        (hit) => html`<li class="card" key=${hit.messageId}>
          <a class="card-link" href=${to(["s", hit.sessionId, hit.branch ? "chat" : "tree"], { branch: hit.branch === "main" ? "" : hit.branch, floor: hit.floorId })}>
            <${Marked} text=${hit.snippet} words=${query} />
          </a>
          <span class="fine">${enumWord(hit.role, "ROLE_")}${hit.branch ? "" : " · abandoned"}</span>
        </li>`,
      )}
    </ul>
  </section>`;
}

/** The words of the query marked in a text. */
function Marked({ text, words }) {
  const wanted = words.split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pieces = text.split(new RegExp(`(${wanted.join("|")})`, "iu"));
  return pieces.map((piece, index) => (index % 2 ? html`<mark>${piece}</mark>` : piece));
}
