/** Refusals as exceptions: one class for each reason that a caller may want to act on. */
import { status as Code, type ServiceError } from "@grpc/grpc-js";

import { BadRequest, ErrorInfo, RetryInfo } from "../gen/google/rpc/error_details.js";
import { Status } from "../gen/google/rpc/status.js";

/** What the service refused, or that it could not be reached. */
export class StemmaError extends Error {
  /** Of google.rpc.ErrorInfo; empty when no Stemma service answered. */
  readonly reason: string;
  /** Of ErrorInfo: `current_head`, `run_id` … */
  readonly metadata: Record<string, string>;
  /** Fields that are wrong, of an INVALID_ARGUMENT. */
  readonly violations: { field: string; description: string }[];
  /** Milliseconds, where the service said when to come again. */
  readonly retryAfter: number | undefined;

  constructor(
    readonly code: Code,
    message: string,
    details: { reason: string; metadata: Record<string, string>; violations: BadRequest["fieldViolations"]; retryAfter?: number },
  ) {
    super(`${message} (${details.reason || Code[code]})`);
    this.name = new.target.name;
    this.reason = details.reason;
    this.metadata = details.metadata;
    this.violations = details.violations;
    this.retryAfter = details.retryAfter;
  }

  /** Whether the same request may get through later, and is safe to send again. */
  get passing(): boolean {
    if (this.code === Code.UNAVAILABLE) return true;
    if (this.code === Code.RESOURCE_EXHAUSTED) return this.retryAfter !== undefined;
    // What a connection that breaks in the middle of a call ends it with.
    return !this.reason && [Code.CANCELLED, Code.INTERNAL, Code.UNKNOWN].includes(this.code);
  }
}

/** There is no such thing, or not for this caller: nothing says which. */
export class NotFound extends StemmaError {}
/** `violations` say what to correct. */
export class InvalidRequest extends StemmaError {}
/** No valid credential. */
export class Unauthenticated extends StemmaError {}
/** The caller may know of it, and may not do this. */
export class Forbidden extends StemmaError {}
/** This requestId was used with other content. */
export class RequestIdReused extends StemmaError {}
/** Somebody else committed first: look at `currentHead`, decide, and ask again. */
export class HeadMoved extends StemmaError {
  get currentHead(): string {
    return this.metadata.current_head ?? "";
  }
}
/** Somebody else wrote this layer first; metadata has `current_version`. */
export class VersionMoved extends StemmaError {}
/** The branch has a turn that is not committed yet; metadata has `pending_floor_id`. */
export class FloorPending extends StemmaError {}
/** A model is writing that turn; metadata has `run_id`. */
export class RunActive extends StemmaError {}
/** Restore it first. */
export class Archived extends StemmaError {}
/** The draft has ended; metadata has `state`. */
export class DraftNotActive extends StemmaError {}
/** The target moved since the entry was written: decide, and accept with `allowStale`. */
export class Stale extends StemmaError {}
/** The entry was accepted, rejected, withdrawn, or has expired; metadata has `state`. */
export class AlreadyDecided extends StemmaError {}
/** The feed no longer has what comes after that position: begin again at metadata's `earliest`. */
export class CursorTooOld extends StemmaError {}
/** Too large, too many, or too fast; `retryAfter` is set where it passes. */
export class LimitExceeded extends StemmaError {}
/** The call's time was up. */
export class DeadlineExceeded extends StemmaError {}
/** Not reached, or not able to answer now, and the call's time is up. */
export class Unavailable extends StemmaError {}

type Kind = typeof StemmaError;

const byReason: Record<string, Kind> = {
  REQUEST_ID_REUSED: RequestIdReused,
  HEAD_MOVED: HeadMoved,
  VERSION_MOVED: VersionMoved,
  FLOOR_PENDING: FloorPending,
  RUN_ACTIVE: RunActive,
  ARCHIVED: Archived,
  DRAFT_NOT_ACTIVE: DraftNotActive,
  STALE: Stale,
  ALREADY_DECIDED: AlreadyDecided,
  CURSOR_TOO_OLD: CursorTooOld,
};
const byCode: { [code in Code]?: Kind } = {
  [Code.NOT_FOUND]: NotFound,
  [Code.INVALID_ARGUMENT]: InvalidRequest,
  [Code.UNAUTHENTICATED]: Unauthenticated,
  [Code.PERMISSION_DENIED]: Forbidden,
  [Code.RESOURCE_EXHAUSTED]: LimitExceeded,
  [Code.DEADLINE_EXCEEDED]: DeadlineExceeded,
  [Code.UNAVAILABLE]: Unavailable,
};

/** The exception for what a call of grpc-js failed with. */
export function errorOf(error: ServiceError): StemmaError {
  const [details] = error.metadata?.get("grpc-status-details-bin") ?? [];
  const said = { reason: "", metadata: {}, violations: [], ...read(details) };
  const kind = byReason[said.reason] ?? byCode[error.code] ?? StemmaError;
  return new kind(error.code, error.details, said);
}

function read(details: string | Buffer | undefined) {
  const said: { reason?: string; metadata?: Record<string, string>; violations?: BadRequest["fieldViolations"]; retryAfter?: number } = {};
  if (!(details instanceof Buffer)) return said;
  for (const { typeUrl, value } of Status.decode(details).details) {
    if (typeUrl.endsWith("/google.rpc.ErrorInfo")) {
      ({ reason: said.reason, metadata: said.metadata } = ErrorInfo.decode(value));
    } else if (typeUrl.endsWith("/google.rpc.BadRequest")) {
      said.violations = BadRequest.decode(value).fieldViolations;
    } else if (typeUrl.endsWith("/google.rpc.RetryInfo")) {
      const delay = RetryInfo.decode(value).retryDelay;
      if (delay) said.retryAfter = Number(delay.seconds) * 1000 + delay.nanos / 1e6;
    }
  }
  return said;
}
