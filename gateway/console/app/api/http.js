// The one way to the server: JSON calls with request ids, retries with the same id, and errors that say what.
import { authorization, keyWanted } from "./key.js";
import { ApiError, errorOf, networkError } from "./errors.js";

const ATTEMPTS = 4;
const FIRST_WAIT = 250;

export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  // Over plain http to another host there is no randomUUID.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** "/v1/…" with a query; undefined and empty values are left out. */
export function url(path, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return kept.length ? `${path}?${new URLSearchParams(kept)}` : path;
}

export function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** A response whose status is 2xx. Raises ApiError; an abort of `signal` as it is. */
export async function send(target, options = {}) {
  let response;
  try {
    response = await fetch(target, {
      ...options,
      cache: "no-store",
      headers: { accept: "application/json", ...options.headers, ...authorization() },
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw networkError();
  }
  if (response.ok) return response;
  if (response.status === 401) keyWanted.set(true);
  throw errorOf(await refusal(response), response.status, Number(response.headers.get("retry-after") ?? 0));
}

/** What a refusal says; null for one that is not ours. A body that breaks off says nothing of the call. */
async function refusal(response) {
  let text;
  try {
    text = await response.text();
  } catch {
    throw networkError();
  }
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Sends again what may pass by itself, with the same id: what was done is then answered, not done again. */
export async function patiently(attempt, signal) {
  for (let number = 1; ; number += 1) {
    try {
      return await attempt();
    } catch (error) {
      const passes = error instanceof ApiError && error.passes && number < ATTEMPTS;
      if (!passes) throw error;
      await pause(Math.max(error.retryAfter * 1000, FIRST_WAIT * 2 ** (number - 1)), signal);
    }
  }
}

export function get(path, query, signal) {
  return patiently(async () => (await send(url(path, query), { signal })).json(), signal);
}

/** A write. `body.requestId` is made here unless given; a caller that wants to try again passes its own. */
export function write(method, path, body = {}, signal) {
  const whole = JSON.stringify({ requestId: newId(), ...body });
  const headers = { "content-type": "application/json" };
  return patiently(async () => (await send(path, { method, body: whole, headers, signal })).json(), signal);
}

export const post = (path, body, signal) => write("POST", path, body, signal);
export const patch = (path, body, signal) => write("PATCH", path, body, signal);

/** A write without a body. */
export function remove(path) {
  const target = url(path, { requestId: newId() });
  return patiently(async () => (await send(target, { method: "DELETE" })).json());
}
