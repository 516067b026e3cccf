// The conversation of a session, with what one can do at a turn beyond the turn itself.
import { useMemo, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { go } from "../lib/router.js";
import { forkSession } from "../api/sessions.js";
import { NewBranch } from "../parts/branch_menu.js";
import { NewDraft } from "../drafts/create.js";
import { changed } from "../sessions/recent.js";
import { useFeed } from "./watch.js";
import { Conversation } from "./view.js";
import { createConversation } from "./model.js";
import { sessionSource } from "./session_source.js";

export function SessionChat({ sessionId, branch, session, query, onLoaded }) {
  const conversation = useMemo(() => createConversation(sessionSource(sessionId, branch)), [sessionId, branch]);
  const [asking, setAsking] = useState(null);
  useFeed(conversation);
  const close = () => setAsking(null);
  const fork = async (floor) => {
    try {
      const title = `${session?.title || "Untitled"} (copy)`;
      const made = await forkSession(sessionId, floor.floorId, title);
      changed();
      go(["s", made.session.sessionId, "chat"]);
    } catch (error) {
      conversation.store.patch({ error });
    }
  };
  const actions = (floor) => [
    { label: "Branch from here…", icon: "branch", run: () => setAsking({ what: "branch", floor }) },
    { label: "Draft from here…", icon: "draft", run: () => setAsking({ what: "draft", floor }) },
    { label: "What the model was sent", icon: "layers", run: () => go(["s", sessionId, "context"], { floor: floor.floorId, branch }) },
    { label: "Show in the tree", icon: "tree", run: () => go(["s", sessionId, "tree"], { floor: floor.floorId, branch }) },
    { label: "Copy into a new conversation", icon: "copy", run: () => fork(floor) },
  ];
  const toBranch = (name) => go(["s", sessionId, "chat"], { branch: name });
  return html`<${Conversation} conversation=${conversation} onLoaded=${onLoaded} actions=${actions} footer=${ARCHIVED} goTo=${query.get("floor")} />
    ${asking?.what === "branch" &&
    html`<${NewBranch} sessionId=${sessionId} floorId=${asking.floor.floorId} onDone=${toBranch} onClose=${close} />`}
    ${asking?.what === "draft" && html`<${NewDraft} session=${sessionId} floor=${asking.floor} onClose=${close} />`}`;
}

const ARCHIVED = html`<p class="quiet center">This conversation is archived. Restore it from its menu to go on.</p>`;
