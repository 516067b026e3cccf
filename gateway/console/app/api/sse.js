// Server-sent events over fetch (EventSource can neither POST nor send a key): frames, in order, each once.
// A stream that breaks is resumed after the last frame by `Last-Event-ID`, with a growing wait.
import { ApiError, errorOf, networkError } from "./errors.js";
import { pause, send } from "./http.js";

const FIRST_WAIT = 200;
const LONGEST_WAIT = 10_000;

/** Frames {id, event, data} of one response body. Raises ApiError when the connection breaks. */
export async function* frames(response, signal) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await read(reader, signal);
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const frame = parseFrame(block);
        if (frame) yield frame;
      }
    }
  } finally {
    // Whoever stops listening closes the connection; a reader that failed has nothing left to close.
    reader.cancel().catch(() => undefined);
  }
}

async function read(reader, signal) {
  try {
    return await reader.read();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw networkError();
  }
}

/** One block of lines; null for a comment. */
export function parseFrame(block) {
  const frame = { id: "", event: "", data: "" };
  for (const line of block.split("\n")) {
    const [name, ...more] = line.split(":");
    const value = more.join(":").replace(/^ /, "");
    if (name === "data") frame.data += value;
    else if (name === "id") frame.id = value;
    else if (name === "event") frame.event = value;
  }
  return frame.data ? frame : null;
}

/**
 * Events of a stream that may break and be resumed, until `isLast(event)` or, without it, for ever.
 *
 * @param open(lastId) A response: the first time with "", later with the id of the last frame that came.
 * @param onState("live" | "waiting") Whether events can come right now.
 * Raises ApiError for a refusal that will not pass.
 */
export async function* resumed(open, { signal, isLast = () => false, endsWell = false, onState = () => {} }) {
  let lastId = "";
  let wait = FIRST_WAIT;
  for (;;) {
    try {
      const response = await open(lastId);
      onState("live");
      for await (const frame of frames(response, signal)) {
        if (frame.event === "error") throw errorOf(JSON.parse(frame.data), 503);
        wait = FIRST_WAIT;
        lastId = frame.id || lastId;
        const event = JSON.parse(frame.data);
        yield { event, id: frame.id };
        if (isLast(event)) return;
      }
      if (endsWell) return;
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof ApiError) || !error.passes) throw error;
    }
    onState("waiting");
    try {
      await pause(wait, signal);
    } catch {
      return; // aborted while waiting
    }
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
}

/** GET of an event stream, after a frame. */
export function openStream(target, lastId, signal) {
  const headers = { accept: "text/event-stream", ...(lastId ? { "last-event-id": lastId } : {}) };
  return send(target, { headers, signal });
}
