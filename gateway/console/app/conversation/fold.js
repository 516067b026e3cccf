// Frames of a run, folded into what is shown while it goes on. Pure: a state and a frame give a state.
//
// A page is {pageId, whole, segments}: `whole` is what the server has as a page, `segments` what came behind it,
// in order: {kind: "text" | "reasoning", text} or {kind: "tool", callId, name, argumentsJson, result}.

/** Nothing written yet. */
export function emptyRun(runId = "", floorId = "") {
  return { runId, floorId, after: "", pages: [], calls: [], end: "", failure: "", floor: null };
}

/** @param frame {event, id} */
export function foldFrame(run, { event, id }) {
  const next = { ...run, runId: event.runId, floorId: event.floorId, after: id || run.after };
  if (event.textDelta) return { ...next, pages: grow(run.pages, event.textDelta, "text") };
  if (event.reasoningDelta) return { ...next, pages: grow(run.pages, event.reasoningDelta, "reasoning") };
  if (event.toolCall) return { ...next, pages: addCall(run.pages, event.toolCall) };
  if (event.toolResult) return { ...next, pages: addResult(run.pages, event.toolResult) };
  if (event.pageCompleted) return { ...next, pages: put(run.pages, wholePage(event.pageCompleted.page)) };
  if (event.reset) return { ...next, calls: [], end: "", pages: event.reset.pages.map(wholePage) };
  if (event.requiresAction) return { ...next, end: "requiresAction", ...event.requiresAction };
  return ended(next, event);
}

function ended(run, event) {
  const name = ["floorCommitted", "held", "cancelled", "failed"].find((one) => event[one]);
  if (!name) return run;
  return { ...run, end: name, floor: event[name].floor ?? null, failure: event[name].reason ?? "" };
}

function wholePage(page) {
  return { pageId: page.pageId, whole: page, segments: [] };
}

function pageOf(pages, pageId) {
  return pages.find((one) => one.pageId === pageId) ?? { pageId, whole: null, segments: [] };
}

function put(pages, page) {
  const at = pages.findIndex((one) => one.pageId === page.pageId);
  return at < 0 ? [...pages, page] : pages.with(at, page);
}

function grow(pages, { pageId, text }, kind) {
  const page = pageOf(pages, pageId);
  const last = page.segments.at(-1);
  const segments =
    last?.kind === kind
      ? page.segments.with(-1, { kind, text: last.text + text })
      : [...page.segments, { kind, text }];
  return put(pages, { ...page, segments });
}

function addCall(pages, { pageId, callId, name, argumentsJson }) {
  const page = pageOf(pages, pageId);
  const call = { kind: "tool", callId, name, argumentsJson, result: null };
  return put(pages, { ...page, segments: [...page.segments, call] });
}

function addResult(pages, { pageId, callId, content, isError }) {
  const page = pageOf(pages, pageId);
  const segments = page.segments.map((one) =>
    one.kind === "tool" && one.callId === callId ? { ...one, result: { content, isError } } : one,
  );
  return put(pages, { ...page, segments });
}
