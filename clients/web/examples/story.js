// @ts-check
/**
 * The whole story from a browser: a conversation, an edit, a run that breaks off and goes on, a draft, its acceptance,
 * and the feed. Checks what it is told at every step, and throws at the first that is not so. Needs no browser:
 * examples/run.js is the same under Node.
 */
import { newRequestId, Stemma, StemmaError } from "../stemma.js";

/**
 * @typedef {import("../gen/api").Floor} Floor
 * @typedef {import("../gen/api").RunEvent} RunEvent
 */

const FIFTEEN = "My train leaves in fifteen minutes. Is there time for a coffee?";
const FIFTY = "My train leaves in fifty minutes. Is there time for a coffee?";

const say = (/** @type {string} */ text) => ({ role: /** @type {const} */ ("ROLE_USER"), parts: [{ text: { text } }] });
const answer = (/** @type {string} */ text) => ({ ...say(text), role: /** @type {const} */ ("ROLE_ASSISTANT") });

/** @param {import("../gen/api").Page | undefined} page */
function textOf(page) {
  const parts = (page?.messages ?? []).flatMap((message) => message.parts);
  return parts.map((part) => part.text?.text ?? "").join("");
}

/** @type {(isSo: unknown, what: string) => asserts isSo} */
function check(isSo, what) {
  if (!isSo) throw new Error(`not so: ${what}`);
}

const same = (/** @type {unknown} */ left, /** @type {unknown} */ right) => JSON.stringify(left) === JSON.stringify(right);

/** The error that a call is refused with. @param {Promise<unknown>} call @returns {Promise<StemmaError>} */
async function refusal(call) {
  const error = await call.then(() => undefined, (/** @type {unknown} */ one) => one);
  check(error instanceof StemmaError, "it is refused");
  return error;
}

/** @template T @param {AsyncIterable<T>} events */
async function all(events) {
  const seen = [];
  for await (const event of events) seen.push(event);
  return seen;
}

/** The floor that the frames of a whole run end with: it says what they say. @param {RunEvent[]} seen */
function committed(seen) {
  check(seen.every((event, index) => event.seq === String(index + 1)), "frames are numbered in a row");
  const floor = seen.at(-1)?.floorCommitted?.floor;
  check(floor, "the last frame says what was committed");
  const joined = seen.map((event) => event.textDelta?.text ?? "").join("");
  check(joined && joined === textOf(floor.outputPage), "the frames' text is the page's");
  return floor;
}

/** @param {Stemma} stemma @param {(line: string) => void} print */
export async function story(stemma, print) {
  const log = (/** @type {string} */ step, /** @type {string} */ what) => print(`${step.padEnd(9)} ${what}`);
  const { project } = await stemma.call("POST /v1/projects", { title: "The story in a browser" });
  const projectId = project?.projectId ?? "";

  const asked = { requestId: newRequestId(), projectId, title: "Coffee" };
  const { session } = await stemma.call("POST /v1/sessions", asked);
  const again = await stemma.call("POST /v1/sessions", asked);
  check(session && again.session?.sessionId === session.sessionId, "one requestId makes one session");
  const { sessionId } = session;
  log("session", "asked for twice with one request_id, made once");
  const path = async () => (await stemma.call("GET /v1/sessions/{sessionId}/path", { sessionId })).floors;
  const append = "POST /v1/sessions/{sessionId}/floors";

  const turn = { sessionId, expectedHead: session.rootFloorId, input: [say(FIFTEEN)], output: [answer("Hardly.")] };
  const { floor: first, branch } = await stemma.call(append, turn);
  check(first && branch?.headFloorId === first.floorId, "the new floor is the head");
  log("append", "a turn, committed");

  const edit = { floorId: first.floorId, input: [say(FIFTY)], output: [answer("Plenty of it.")] };
  const { floor: edited } = await stemma.call("POST /v1/floors/{floorId}:edit", edit);
  check(edited, "it is answered with the new floor");
  const { floors } = await stemma.call("GET /v1/floors/{floorId}/siblings", { floorId: edited.floorId });
  check(same(floors.map((one) => one.floorId), [first.floorId, edited.floorId]), "both versions are kept");
  check(same((await path()).map((one) => textOf(one.inputPage)), [FIFTY]), "the path has the edited turn alone");
  log("edit", "fifteen became fifty; the path has the new turn, the old one stays beside it");

  const thanks = { sessionId, input: [say("Thanks.")] };
  const moved = await refusal(stemma.call(append, { ...thanks, expectedHead: newRequestId() }));
  check(moved.reason === "HEAD_MOVED" && moved.metadata.current_head === edited.floorId, "HEAD_MOVED names the head");
  await stemma.call(append, { ...thanks, expectedHead: moved.metadata.current_head });
  log("conflict", "HEAD_MOVED named the head; the turn went in below it");

  /** @type {RunEvent[]} */
  const seen = [];
  for await (const event of stemma.respond({ sessionId, input: { messages: [say("Which one?")] } })) {
    seen.push(event);
    // Hanging up ends the call, not the run: that is the server's.
    if (seen.length === 3) break;
  }
  const last = seen.at(-1);
  check(last, "frames come");
  seen.push(...(await all(stemma.attach(last, `${last.epoch}.${last.seq}`))));
  const head = committed(seen);
  check(same((await path()).at(-1), head), "the path ends with the floor of the last frame");
  log("respond", "hung up after 3 frames, attached after the third: no frame lost, none twice");

  const stagedWriteId = await draft(stemma, sessionId);
  check((await path()).at(-1)?.floorId === head.floorId, "a draft and its export leave the conversation as it is");
  log("draft", "answered beside the conversation, exported, nothing of it there yet");

  const accept = "POST /v1/stagedWrites/{stagedWriteId}:accept";
  const decision = { stagedWriteId, expectedHead: head.floorId, reason: "agreed" };
  const { floor: accepted } = await stemma.call(accept, decision);
  check(accepted?.parentFloorId === head.floorId, "it became the head's child");
  check(same((await path()).at(-1), accepted), "and the head");
  const second = await refusal(stemma.call(accept, { stagedWriteId, reason: "agreed again" }));
  check(second.reason === "ALREADY_DECIDED", "a second decision is refused");
  log("accept", "the draft's answer is a turn now; a second decision is refused");

  const types = await watched(stemma, projectId);
  check(types.filter((type) => type === "floor.committed").length === 5, "each turn has its event");
  log("watch", `${types.length} events, four at a time, each once and in order`);

  const unknown = await refusal(stemma.call("GET /v1/sessions/{sessionId}", { sessionId: newRequestId() }));
  check(unknown.reason === "NOT_FOUND", "an unknown session is not found");
  const { lastPosition } = await stemma.call("GET /v1/projects/{projectId}/events", { projectId });
  const silent = stemma.watch(projectId, lastPosition, { signal: AbortSignal.timeout(300) });
  check((await refusal(all(silent))).reason === "TIMEOUT", "the deadline ends it");
  log("refusals", "NOT_FOUND has a type of its own; a deadline is kept");
  print("ok");
}

/** The id of the staged write that comes of a draft. @param {Stemma} stemma @param {string} sessionId */
async function draft(stemma, sessionId) {
  const created = { sessionId, purpose: "a second opinion" };
  const { draft: made } = await stemma.call("POST /v1/sessions/{sessionId}/drafts", created);
  const draftId = made?.draftId ?? "";
  committed(await all(stemma.respond({ draftId, input: { messages: [say("Say it differently.")] } })));
  const { stagedWriteId } = await stemma.call("POST /v1/drafts/{draftId}:export", {
    draftId,
    target: { placement: "PLACEMENT_NEXT_FLOOR" },
    parts: [{ outputPage: {} }],
    reason: "reads better",
    finalize: true,
  });
  return stagedWriteId;
}

/** The types of the project's events, up to the acceptance. @param {Stemma} stemma @param {string} projectId */
async function watched(stemma, projectId) {
  /** @type {string[]} */
  const types = [];
  while (!types.includes("staged_write.accepted")) {
    let taken = 0;
    // A few at a time: each time the feed is asked for what follows the last position.
    for await (const event of stemma.watch(projectId, String(types.length))) {
      types.push(event.type);
      check(event.position === String(types.length), "each event once, in order");
      taken += 1;
      if (taken === 4 || event.type === "staged_write.accepted") break;
    }
  }
  return types;
}
