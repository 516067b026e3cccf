// The turns of a path, oldest first; earlier ones load as one scrolls up, and the end stays in view while it grows.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../lib/html.js";
import { Turn } from "./turn.js";
import { PendingTurn } from "./pending.js";
import { FailedTurn } from "./failed.js";

const NEAR = 80;

export function Transcript({ conversation, state, actions, intro, goTo }) {
  const scroller = useRef(null);
  useEnd(scroller, state);
  useOlder(scroller, conversation, state);
  useTarget(scroller, conversation, goTo);
  const { floors, pending, failed } = state;
  const empty = !floors.length && !pending && !failed;
  return html`<div class="transcript" ref=${scroller} tabindex="0" role="region" aria-label="Messages">
    <div class="column">
      ${intro}
      ${state.older &&
      html`<p class="center">
        <button type="button" class="small" disabled=${state.busy === "older"} onClick=${conversation.loadOlder}>
          ${state.busy === "older" ? "Loading…" : "Earlier turns"}
        </button>
      </p>`}
      ${empty && html`<${Beginning} state=${state} />`}
      ${floors.map(
        (floor, index) => html`<${Turn}
          key=${`${floor.frozen ? "f" : "d"}${floor.depth}`}
          conversation=${conversation}
          state=${state}
          floor=${floor}
          actions=${actions}
          last=${index === floors.length - 1}
        />`,
      )}
      ${pending &&
      html`<${PendingTurn} key=${`d${pending.depth}`} conversation=${conversation} state=${state} floor=${pending} />`}
      ${!pending && failed && html`<${FailedTurn} conversation=${conversation} state=${state} floor=${failed} />`}
    </div>
  </div>`;
}

function Beginning({ state }) {
  return html`<div class="empty">
    <h2>${state.draft ? "An empty draft" : "Say something"}</h2>
    <p>
      Every turn can be edited, regenerated and rolled back later. Nothing is overwritten, and the model sees only the
      path that you see.
    </p>
  </div>`;
}

/** At the end, the end stays in view; whoever has scrolled up is left where they are. */
function useEnd(scroller, state) {
  const atEnd = useRef(true);
  useEffect(() => {
    const element = scroller.current;
    const onScroll = () => {
      atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => element.removeEventListener("scroll", onScroll);
  }, []);
  const written = state.pending && !state.run?.runId;
  useLayoutEffect(() => {
    // What one has just sent is looked at, wherever one was.
    if (written) atEnd.current = true;
  }, [written]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (atEnd.current) element.scrollTop = element.scrollHeight;
  }, [state.floors, state.pending, state.run, state.failed, state.candidates]);
}

/** Goes to the turn that the address names, and marks it for a moment. */
function useTarget(scroller, conversation, floorId) {
  useEffect(() => {
    if (!floorId) return;
    void conversation.loadTo(floorId).then((found) => {
      if (!found) return;
      requestAnimationFrame(() => {
        const turn = scroller.current?.querySelector(`[data-floor="${CSS.escape(floorId)}"]`);
        turn?.scrollIntoView({ block: "center" });
        turn?.classList.add("found-turn");
      });
    });
  }, [conversation, floorId]);
}

/** Loads earlier turns near the top, and holds what is in view where it is. */
function useOlder(scroller, conversation, state) {
  const fromEnd = useRef(0);
  const first = state.floors[0]?.floorId;
  const shownFirst = useRef(first);
  useEffect(() => {
    const element = scroller.current;
    const onScroll = () => {
      if (element.scrollTop < 600) void conversation.loadOlder();
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => element.removeEventListener("scroll", onScroll);
  }, [conversation]);
  if (scroller.current) fromEnd.current = scroller.current.scrollHeight - scroller.current.scrollTop;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (shownFirst.current !== first && state.floors.some((floor) => floor.floorId === shownFirst.current)) {
      element.scrollTop = element.scrollHeight - fromEnd.current;
    }
    shownFirst.current = first;
  }, [first]);
}
