// A path as a chat: of a session or of a draft.
import { useEffect } from "preact/hooks";
import { html } from "../lib/html.js";
import { useStore } from "../lib/store.js";
import { useTitle } from "../lib/hooks.js";
import { to } from "../lib/router.js";
import { Notice } from "../parts/notice.js";
import { Transcript } from "./transcript.js";
import { Composer } from "./composer.js";

/** @param onLoaded Gets the state whenever the session, its branches or the head are read anew. */
export function Conversation({ conversation, onLoaded, actions, intro, footer, goTo }) {
  const state = useStore(conversation.store);
  useEffect(() => {
    void conversation.load();
    return conversation.close;
  }, [conversation]);
  useEffect(() => {
    if (!state.loading) onLoaded?.(state);
  }, [state.session, state.draft, state.branches, state.head]);
  useTitle(state.title);
  if (state.loading) return html`<p class="quiet waiting" role="status">Loading…</p>`;
  if (!state.session && !state.draft) return html`<${LoadFailed} state=${state} conversation=${conversation} />`;
  return html`<section class="conversation" aria-label="Conversation">
    <${Transcript} conversation=${conversation} state=${state} actions=${actions} intro=${intro} goTo=${goTo} />
    <div class="dock">
      <div class="column">
        <${Moved} conversation=${conversation} state=${state} />
        ${!state.moved &&
        html`<${Notice} error=${state.error} onClose=${conversation.dismiss} actions=${remedies(conversation, state)} />`}
        ${state.connection === "waiting" &&
        html`<p class="quiet" role="status">The connection broke. Reading on as soon as it is back…</p>`}
        ${state.writable ? html`<${Composer} conversation=${conversation} state=${state} />` : footer}
      </div>
    </div>
  </section>`;
}

function LoadFailed({ state, conversation }) {
  const back = { label: "All conversations", run: () => (location.hash = to([])) };
  const again = { label: "Try again", run: conversation.load };
  return html`<div class="page"><${Notice} error=${state.error} actions=${[again, back]} /></div>`;
}

function remedies(conversation, { error, pending }) {
  if (error?.reason === "FLOOR_PENDING" || error?.reason === "RUN_ACTIVE") {
    return [{ label: "Show the unfinished turn", run: conversation.load }];
  }
  if (error?.reason === "NETWORK" || error?.reason === "UNAVAILABLE") {
    return [{ label: pending ? "Reload" : "Try to load again", run: conversation.load }];
  }
  return [];
}

/** Told when a call was refused for it, or when the feed said so. */
function Moved({ conversation, state }) {
  if (!state.moved) return null;
  const refused = state.error?.reason === "HEAD_MOVED";
  return html`<div class="notice info" role="alert">
    <div class="notice-text">
      <p><strong>Somebody else moved this head.</strong></p>
      <p>
        ${refused ? "Your change was not made. " : ""}This branch now ends elsewhere than what you see. Look at the new
        head, then decide.
      </p>
      <div class="row">
        <button type="button" class="small primary" onClick=${conversation.load}>Look at the new head</button>
        <button type="button" class="small" onClick=${conversation.dismiss}>Stay here</button>
      </div>
    </div>
  </div>`;
}
