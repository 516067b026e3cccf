// What a refusal is, read from google.rpc.Status.

/** A refusal or a broken connection. `reason` is the contract's (HEAD_MOVED …), or NETWORK. */
export class ApiError extends Error {
  constructor({ status = 0, reason = "", message, metadata = {}, violations = [], retryAfter = 0, action = "" }) {
    super(message);
    this.name = "ApiError";
    Object.assign(this, { status, reason, metadata, violations, retryAfter, action });
  }

  /** Whether the same request with the same id may be sent again by itself. */
  get passes() {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest";

/** The error of a body in JSON (or of something else, which a proxy may have written). */
export function errorOf(body, status, retryAfter = 0) {
  const details = Array.isArray(body?.details) ? body.details : [];
  const info = details.find((one) => one["@type"] === ERROR_INFO);
  const bad = details.find((one) => one["@type"] === BAD_REQUEST);
  return new ApiError({
    status,
    reason: info?.reason ?? "",
    message: body?.message || `The server answered ${status}.`,
    metadata: info?.metadata ?? {},
    violations: bad?.fieldViolations ?? [],
    retryAfter,
  });
}

export function networkError() {
  return new ApiError({ reason: "NETWORK", message: "The server cannot be reached." });
}

const ADVICE = {
  NETWORK: "Check that it is running, then try again. Nothing is sent twice.",
  UNAVAILABLE: "Try again in a moment. Nothing is done twice.",
  HEAD_MOVED: "Somebody else moved this branch since you looked. Look at the new head, then decide.",
  FLOOR_PENDING: "A turn of this branch is not finished. Finish, choose or discard it first.",
  RUN_ACTIVE: "An answer is being written. Wait for it, or stop it.",
  FLOOR_FAILED: "This turn failed. Regenerate it, or edit it.",
  FLOOR_SEALED: "This turn is finished and cannot change. Edit makes a new version beside it.",
  ARCHIVED: "It is archived. Restore it to write.",
  VERSION_MOVED: "Somebody changed it since you looked. Look again, then decide.",
  STALE: "The target moved since this was drafted. Look at what changed; you may accept it all the same.",
  ALREADY_DECIDED: "Somebody decided it already. Look again.",
  DRAFT_NOT_ACTIVE: "The draft has ended. Start a new one.",
  NOT_EXPORTABLE: "Only whole, committed answers on the draft's path can be exported.",
  LIMIT: "Make it smaller, or slow down.",
  QUOTA: "Your quota is used up. Try later.",
  OVERLOADED: "The server is busy. Try again in a moment.",
  UNAUTHENTICATED: "Enter a valid API key.",
  FORBIDDEN: "Your key does not allow this. Ask an owner of the project.",
  NOT_FOUND: "It may have been deleted, or never was. Go back to the list.",
  CURSOR_TOO_OLD: "Those events are not kept any more. Begin with what is kept.",
  PROVIDER_UNAVAILABLE: "The model could not be reached. Retry.",
  PROVIDER_INVALID: "The model's server refused the request. Check the configuration.",
  PROVIDER_TIMEOUT: "The model took too long. Retry.",
  CRASHED: "The server stopped while it was writing. What was written is kept. Retry.",
  INTERNAL: "Report the error id.",
};

/** What to do about it, in a sentence; "" when the message says it all. */
export function adviceFor(reason) {
  return ADVICE[reason] ?? "";
}
