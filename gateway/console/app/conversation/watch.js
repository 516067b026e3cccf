// Follows the project's feed while the page is looked at, to tell when somebody else moved the head.
import { useEffect } from "preact/hooks";
import { useStore } from "../lib/store.js";
import { listEvents, watchEvents } from "../api/events.js";

export function useFeed(conversation) {
  const projectId = useStore(conversation.store).session?.projectId;
  useEffect(() => {
    if (!projectId) return undefined;
    let closing = null;
    // A page that nobody sees holds no connection: a browser has six for one host.
    const follow = () => {
      closing?.abort();
      closing = null;
      if (document.hidden) return;
      closing = new AbortController();
      void watch(conversation, projectId, closing.signal);
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      document.removeEventListener("visibilitychange", follow);
      closing?.abort();
    };
  }, [conversation, projectId]);
}

async function watch(conversation, projectId, signal) {
  const { id, branch } = conversation.source;
  try {
    const { lastPosition } = await listEvents(projectId, 0, 1);
    for await (const { event } of watchEvents(projectId, lastPosition, { signal })) {
      if (event.sessionId !== id) continue;
      const moved = headIn(event);
      if (moved?.branch === branch) await conversation.tellMoved(moved.head);
    }
  } catch (error) {
    // Without the feed the next write says it; a refusal here is worth no alarm.
    console.info(`The feed cannot be followed: ${error.message}`);
  }
}

/** Which head an event moved where; null for the other events. A commit beside the head moves none. */
export function headIn({ type, payloadJson }) {
  if (type !== "head.moved" && type !== "floor.committed") return null;
  const { branch, to_floor_id: head } = JSON.parse(payloadJson || "{}");
  return branch && head ? { branch, head } : null;
}
