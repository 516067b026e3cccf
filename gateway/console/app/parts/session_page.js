// One session: its title and branch above, and one of its views below.
import { useCallback, useEffect, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { go, to } from "../lib/router.js";
import { useTitle } from "../lib/hooks.js";
import { getSession } from "../api/sessions.js";
import { listBranches } from "../api/floors.js";
import { BranchMenu } from "./branch_menu.js";
import { SessionMenu } from "../sessions/menu.js";
import { SessionChat } from "../conversation/page.js";
import { TreeView } from "../tree/view.js";
import { ContextView } from "../context/view.js";
import { SessionDrafts } from "../drafts/list.js";
import { SessionLedger } from "../ledger/page.js";

const VIEWS = [
  ["chat", "Conversation"],
  ["tree", "Tree"],
  ["context", "Context"],
  ["drafts", "Drafts"],
  ["ledger", "Ledger"],
];

export function SessionPage({ sessionId, view, query }) {
  const branch = query.get("branch") || "main";
  const [about, setAbout] = useState({ id: "", session: null, branches: [] });
  const refresh = useCallback(async () => {
    const [session, branches] = await Promise.all([getSession(sessionId), listBranches(sessionId)]);
    setAbout({ id: sessionId, session, branches });
  }, [sessionId]);
  useEffect(() => {
    // The conversation reads both by itself, and says when it cannot.
    if (view !== "chat") refresh().catch(() => undefined);
  }, [refresh, view]);
  const onLoaded = useCallback(
    ({ session, branches }) => session && setAbout({ id: session.sessionId, session, branches }),
    [],
  );
  const { session, branches } = about.id === sessionId ? about : { session: null, branches: [] };
  useTitle(session?.title || "Conversation");
  const place = { branch: branch === "main" ? "" : branch };
  const common = { sessionId, branch, session, branches, query, refresh };
  return html`<div class="session-page">
    <header class="bar">
      <h1 class="bar-title">${session ? session.title || "Untitled" : "…"}</h1>
      ${session?.state === "SESSION_STATE_ARCHIVED" && html`<span class="badge">archived</span>`}
      <${BranchMenu} ...${common} onChoose=${(name) => go(["s", sessionId, view], { branch: name === "main" ? "" : name })} />
      ${session && html`<${SessionMenu} session=${session} onChanged=${refresh} />`}
      <nav class="tabs" aria-label="Views">
        ${VIEWS.map(
          ([name, label]) =>
            html`<a href=${to(["s", sessionId, name], place)} aria-current=${name === view ? "page" : undefined}>${label}</a>`,
        )}
      </nav>
    </header>
    <${View} view=${view} common=${common} onLoaded=${onLoaded} />
  </div>`;
}

function View({ view, common, onLoaded }) {
  const key = `${common.sessionId}/${common.branch}`;
  if (view === "tree") return html`<${TreeView} key=${key} ...${common} />`;
  if (view === "context") return html`<${ContextView} key=${key} ...${common} />`;
  if (view === "drafts") return html`<${SessionDrafts} key=${key} ...${common} />`;
  if (view === "ledger") return html`<${SessionLedger} key=${key} ...${common} />`;
  return html`<${SessionChat} key=${key} ...${common} onLoaded=${onLoaded} />`;
}
