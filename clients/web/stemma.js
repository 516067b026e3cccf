// @ts-check
/**
 * Stemma over REST and server-sent events, for browsers (and Node): one file, without a dependency.
 *
 *     import { Stemma } from "./stemma.js";
 *     const stemma = new Stemma();
 *     const { session } = await stemma.call("POST /v1/sessions", { title: "Apples" });
 *
 * Calls are named by method and path, as in docs and OpenAPI; fields of the path are taken from the request.
 *
 * - a write is sent with an `Idempotency-Key` and keeps it through every retry: so it happens once
 * - what passes (a connection that breaks, a server that stops or has too much to do) is tried again, after the
 *   pause that the server asks for or with growing ones, as long as the call's time allows
 * - refusals are StemmaError, with the reason and its metadata
 * - `respond`, `attach` and `watch` go on after a cut where they were: no frame is lost or comes twice
 *
 * @typedef {import("./gen/api").Operations} Operations
 * @typedef {import("./gen/api").RunEvent} RunEvent
 * @typedef {import("./gen/api").Event} Event
 * @typedef {import("./gen/api").Asked<import("./gen/api").RespondRequest> & { sessionId: string }} InSession
 * @typedef {import("./gen/api").Asked<import("./gen/api").DraftRespondRequest> & { draftId: string }} InDraft
 * @typedef {{ timeout?: number, signal?: AbortSignal }} CallOptions `timeout` is in milliseconds.
 */

const LAST = /** @type {const} */ (["floorCommitted", "held", "failed", "cancelled"]);
const STREAM_TIMEOUT = 3_600_000;
// How long the service may be away before a watcher gives up.
const PATIENCE = 300_000;

/** What the service refused, or that it could not be reached. */
export class StemmaError extends Error {
  /**
   * @param {number} status Of HTTP; 0 when nothing answered.
   * @param {string} reason Of google.rpc.ErrorInfo (`HEAD_MOVED` …), `TIMEOUT`, or `NETWORK`.
   * @param {string} message For people.
   * @param {{ metadata?: Record<string, string>, violations?: { field: string, description: string }[],
   *   retryAfter?: number }} details `retryAfter` is in milliseconds.
   */
  constructor(status, reason, message, { metadata = {}, violations = [], retryAfter } = {}) {
    super(`${message} (${reason})`);
    this.name = "StemmaError";
    this.status = status;
    this.reason = reason;
    /** Of ErrorInfo: `current_head`, `run_id` … */
    this.metadata = metadata;
    this.violations = violations;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may get through later, and is safe to send again. */
  get passing() {
    if (this.reason === "NETWORK" || [502, 503].includes(this.status)) return true;
    return this.status === 429 && this.retryAfter !== undefined;
  }
}

export class Stemma {
  /**
   * @param {{ base?: string, apiKey?: string, timeout?: number, retries?: { first: number, most: number } }} options
   *   `base` is where the gateway is; without it, where the page is from. `timeout` is in milliseconds, for a call
   *   with its retries. Pauses between tries grow from `retries.first` to `retries.most`.
   */
  constructor({ base = "", apiKey = "", timeout = 30_000, retries = { first: 100, most: 5_000 } } = {}) {
    this.base = base.replace(/\/$/, "");
    this.apiKey = apiKey;
    this.timeout = timeout;
    this.retries = retries;
  }

  /**
   * One answer.
   *
   * @template {keyof Operations} Name
   * @param {Name} name
   * @param {Operations[Name]["request"]} request
   * @param {CallOptions} options
   * @returns {Promise<Operations[Name]["answer"]>}
   */
  async call(name, request, { timeout = this.timeout, signal } = {}) {
    const whole = prepared(name, request);
    const times = new Times(timeout, this.retries, signal);
    for (;;) {
      const limit = times.limit();
      try {
        const response = await this.send(whole, "application/json", limit);
        return /** @type {Operations[Name]["answer"]} */ (await read(response.json(), limit));
      } catch (error) {
        await times.wait(error);
      }
    }
  }

  /**
   * The frames of the run that the request begins, in a session or a draft, to the last one or to where the run waits.
   * Who stops iterating hangs up; the run goes on.
   *
   * @param {InSession | InDraft} request
   * @param {CallOptions} options
   * @returns {AsyncGenerator<RunEvent, void, undefined>}
   */
  respond(request, options = {}) {
    const name = "draftId" in request ? "POST /v1/drafts/{draftId}:respond" : "POST /v1/sessions/{sessionId}:respond";
    return this.#run(prepared(name, request), "draftId" in request ? request.draftId : "", "", "", options);
  }

  /**
   * The frames of a run after a position, `<epoch>.<seq>`.
   *
   * @param {{ runId: string, draftId?: string }} run
   * @param {string} after
   * @param {CallOptions} options
   */
  attach({ runId, draftId = "" }, after = "", options = {}) {
    return this.#run(undefined, draftId, runId, after, options);
  }

  /**
   * The events of a project after a position, each once and in order, for ever. An event's position is where to go on.
   *
   * @param {string} projectId
   * @param {string} after
   * @param {{ signal?: AbortSignal }} options
   * @returns {AsyncGenerator<Event, void, undefined>}
   */
  async *watch(projectId, after = "0", { signal } = {}) {
    const times = new Times(PATIENCE, this.retries, signal);
    for (;;) {
      try {
        const begin = prepared("GET /v1/projects/{projectId}/events:watch", { projectId, after });
        for await (const { id, data } of this.#frames(begin, () => times.again(), signal)) {
          after = id;
          yield data;
        }
      } catch (error) {
        await times.wait(error);
      }
    }
  }

  /**
   * @param {Prepared | undefined} begin
   * @param {string} draftId @param {string} runId @param {string} after @param {CallOptions} options
   * @returns {AsyncGenerator<RunEvent, void, undefined>}
   */
  async *#run(begin, draftId, runId, after, { timeout = STREAM_TIMEOUT, signal } = {}) {
    const times = new Times(timeout, this.retries, signal);
    const follow = `GET /v1/${draftId ? "drafts/{draftId}/" : ""}runs/{runId}/events`;
    for (;;) {
      try {
        const next = runId || !begin ? prepared(follow, { draftId, runId, after }) : begin;
        for await (const { id, data } of this.#frames(next, () => undefined, times.limit())) {
          ({ runId } = data);
          after = id;
          times.attempt = 0;
          yield data;
          if (LAST.some((kind) => data[kind])) return;
        }
        // A run that waits ends this stream of it, and not the run.
        return;
      } catch (error) {
        await times.wait(error);
      }
    }
  }

  /**
   * @param {Prepared} request @param {() => void} progress Something came, be it a comment. @param {AbortSignal} [signal]
   */
  async *#frames(request, progress, signal) {
    const response = await this.send(request, "text/event-stream", signal);
    const reader = /** @type {ReadableStream} */ (response.body).pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (let rest = ""; ; ) {
        const { done, value } = await read(reader.read(), signal);
        if (done) return;
        progress();
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) {
          const frame = parsed(block);
          if (frame.event === "error") throw refusal(503, JSON.parse(frame.data), null);
          if (frame.data) yield { id: frame.id, data: JSON.parse(frame.data) };
        }
      }
    } finally {
      // Closes the connection; one that broke has nothing left to close.
      reader.cancel().catch(() => undefined);
    }
  }

  /** A response that is no refusal. @param {Prepared} request @param {string} accept @param {AbortSignal} [signal] */
  async send({ method, path, headers, body }, accept, signal) {
    /** @type {Record<string, string>} */
    const key = this.apiKey ? { authorization: `Bearer ${this.apiKey}` } : {};
    const init = { method, body, headers: { ...headers, ...key, accept }, signal, cache: /** @type {const} */ ("no-store") };
    const response = await read(fetch(this.base + path, init), signal);
    if (response.ok) return response;
    // A refusal that breaks off in the middle is none: it is asked for again.
    const said = await read(response.text(), signal);
    throw refusal(response.status, json(said), response.headers.get("retry-after"));
  }
}

/** @typedef {{ method: string, path: string, headers: Record<string, string>, body?: string }} Prepared */

/** @param {string} name @param {Record<string, any>} request @returns {Prepared} */
function prepared(name, request) {
  const [method = "", template = ""] = name.split(" ");
  const { requestId = newRequestId(), ...rest } = request;
  const path = template.replace(/\{(\w+)\}/g, (_, field) => {
    const value = rest[field];
    delete rest[field];
    return encodeURIComponent(value);
  });
  if (method === "GET" || method === "DELETE") {
    const query = Object.entries(rest).flatMap(([field, value]) =>
      [value].flat().filter((one) => one !== undefined && one !== "").map((one) => [field, String(one)]),
    );
    const asked = query.length ? `?${new URLSearchParams(query)}` : "";
    return { method, path: path + asked, headers: method === "GET" ? {} : { "idempotency-key": requestId } };
  }
  const headers = { "content-type": "application/json", "idempotency-key": requestId };
  return { method, path, headers, body: JSON.stringify(rest) };
}

/** A random UUID, also where the page came over plain http: there is no randomUUID. */
export function newRequestId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Some proxy's words are no JSON. @param {string} text */
function json(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @param {number} status @param {any} body @param {string | null} after Seconds. */
function refusal(status, body, after) {
  const details = /** @type {any[]} */ (Array.isArray(body?.details) ? body.details : []);
  const of = (/** @type {string} */ type) => details.find((one) => one["@type"]?.endsWith(`/google.rpc.${type}`));
  const reason = of("ErrorInfo")?.reason ?? `HTTP_${status}`;
  return new StemmaError(status, reason, body?.message ?? `The server answered ${status}.`, {
    metadata: of("ErrorInfo")?.metadata,
    violations: of("BadRequest")?.fieldViolations,
    retryAfter: after === null ? undefined : Number(after) * 1000,
  });
}

/** @param {string} block */
function parsed(block) {
  const frame = { id: "", event: "", data: "" };
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (name) frame[/** @type {keyof typeof frame} */ (name)] += value;
  }
  return frame;
}

/**
 * What the connection gives; whatever it breaks with is one error. @template T @param {Promise<T>} promise
 * @param {AbortSignal} [signal] @returns {Promise<T>}
 */
async function read(promise, signal) {
  try {
    return await promise;
  } catch (error) {
    if (signal?.reason?.name === "TimeoutError") throw new StemmaError(0, "TIMEOUT", "The call's time was up.");
    if (signal?.aborted) throw signal.reason;
    throw new StemmaError(0, "NETWORK", "The server cannot be reached, or the connection broke.");
  }
}

/** The time that a call has, and how often it was tried since it last got anywhere. */
class Times {
  /** @param {number} timeout @param {{ first: number, most: number }} retries @param {AbortSignal} [signal] */
  constructor(timeout, retries, signal) {
    this.timeout = timeout;
    this.retries = retries;
    this.signal = signal;
    this.attempt = 0;
    this.until = Date.now() + timeout;
  }

  /** Ends with the caller's signal, or when the time is up. */
  limit() {
    const own = AbortSignal.timeout(Math.max(1, this.until - Date.now()));
    return this.signal ? AbortSignal.any([this.signal, own]) : own;
  }

  again() {
    this.attempt = 0;
    this.until = Date.now() + this.timeout;
  }

  /** Waits until the next try. Throws `error` when it does not pass, or would pass too late. @param {unknown} error */
  async wait(error) {
    if (!(error instanceof StemmaError) || !error.passing) throw error;
    const grown = Math.min(this.retries.most, this.retries.first * 2 ** this.attempt);
    const pause = Math.max(error.retryAfter ?? 0, grown * (0.5 + Math.random() / 2));
    if (Date.now() + pause >= this.until) throw error;
    this.attempt += 1;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
