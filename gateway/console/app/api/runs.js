// Runs, of sessions and of drafts: starting, following, ending.
import { get, newId, post, send } from "./http.js";
import { openStream, resumed } from "./sse.js";

const ENDS = ["floorCommitted", "held", "failed", "cancelled", "requiresAction"];

export const endOf = (event) => ENDS.find((name) => event[name]) ?? "";

/**
 * Starts a run and follows it to its end or its pause. The first try and every repeat carry one request id, so
 * however often the connection breaks, the run is one; once its id is known, it is followed by that.
 */
export function respond(respondPath, runPath, body, options) {
  const whole = JSON.stringify({ requestId: newId(), ...body });
  let runId = "";
  const open = (lastId) =>
    runId
      ? openStream(`${runPath}/${runId}/events`, lastId, options.signal)
      : send(respondPath, {
          method: "POST",
          body: whole,
          headers: { "content-type": "application/json", accept: "text/event-stream" },
          signal: options.signal,
        });
  const remember = async function* () {
    for await (const frame of resumed(open, { ...options, isLast: endOf })) {
      runId = frame.event.runId;
      yield frame;
    }
  };
  return remember();
}

/** Follows a run from its beginning, or after a frame. */
export function attach(runPath, runId, options, after = "") {
  const open = (lastId) => openStream(`${runPath}/${runId}/events`, lastId || after, options.signal);
  return resumed(open, { ...options, isLast: endOf });
}

export const getRun = (runPath, runId) => get(`${runPath}/${runId}`).then((answer) => answer.run);
export const cancelRun = (runPath, runId) => post(`${runPath}/${runId}:cancel`, { keep: "KEEP_COMMIT" });
export const submitToolResults = (runPath, runId, body) => post(`${runPath}/${runId}:submitToolResults`, body);
