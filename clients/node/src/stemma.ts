/** The client: services as attributes, and streams that go on. */
import { Client, credentials, type ChannelCredentials } from "@grpc/grpc-js";

import { AccessServiceDefinition } from "../gen/stemma/conversation/v1/access_service.js";
import { AdminServiceDefinition } from "../gen/stemma/conversation/v1/admin_service.js";
import { AuditServiceDefinition } from "../gen/stemma/conversation/v1/audit_service.js";
import { ContextServiceDefinition } from "../gen/stemma/conversation/v1/context_service.js";
import { EventServiceDefinition, type Event } from "../gen/stemma/conversation/v1/event_service.js";
import { FloorServiceDefinition } from "../gen/stemma/conversation/v1/floor_service.js";
import { ProjectServiceDefinition } from "../gen/stemma/conversation/v1/project_service.js";
import { RespondRequest, RunServiceDefinition } from "../gen/stemma/conversation/v1/run_service.js";
import { SessionServiceDefinition } from "../gen/stemma/conversation/v1/session_service.js";
import { StagedWriteServiceDefinition } from "../gen/stemma/conversation/v1/staged_write_service.js";
import { StateServiceDefinition } from "../gen/stemma/conversation/v1/state_service.js";
import { DraftServiceDefinition, RespondRequest as DraftRespondRequest } from "../gen/stemma/draft/v1/draft_service.js";
import type { RunEvent } from "../gen/stemma/kernel/v1/run.js";
import { Caller, STREAM_TIMEOUT, withRequestId, type CallOptions } from "./calls.js";
import { followedFeed, followedRun } from "./followed.js";
import { usual, type Retries } from "./retries.js";

/** Addresses are `host:port`; those that are not given are of the environment, or of a server on this machine. */
export interface Options {
  conversation?: string;
  drafts?: string;
  apiKey?: string;
  /** Of TLS; without them the connection is plain. */
  credentials?: ChannelCredentials;
  /** Milliseconds for a call, its retries included. */
  timeout?: number;
  retries?: Retries;
}

const CHANNEL = {
  "grpc.max_receive_message_length": 16 * 1024 * 1024,
  // Back soon after a restart.
  "grpc.initial_reconnect_backoff_ms": 200,
  "grpc.max_reconnect_backoff_ms": 1_000,
};

/** Connects with the first call. */
export class Stemma {
  private readonly caller: Caller;
  private readonly canon: Client;
  private readonly beside: Client;

  readonly projects;
  readonly sessions;
  readonly floors;
  readonly runs;
  readonly contexts;
  readonly state;
  readonly stagedWrites;
  readonly events;
  readonly access;
  readonly audit;
  readonly admin;
  readonly drafts;

  constructor(options: Options = {}) {
    const security = options.credentials ?? credentials.createInsecure();
    const { STEMMA_CONVERSATION, STEMMA_DRAFT, STEMMA_API_KEY } = process.env;
    this.canon = new Client(options.conversation ?? STEMMA_CONVERSATION ?? "127.0.0.1:50051", security, CHANNEL);
    this.beside = new Client(options.drafts ?? STEMMA_DRAFT ?? "127.0.0.1:50052", security, CHANNEL);
    this.caller = new Caller(
      options.apiKey ?? STEMMA_API_KEY ?? "", options.timeout ?? 30_000, options.retries ?? usual,
    );
    this.projects = this.caller.service(this.canon, ProjectServiceDefinition);
    this.sessions = this.caller.service(this.canon, SessionServiceDefinition);
    this.floors = this.caller.service(this.canon, FloorServiceDefinition);
    this.runs = this.caller.service(this.canon, RunServiceDefinition);
    this.contexts = this.caller.service(this.canon, ContextServiceDefinition);
    this.state = this.caller.service(this.canon, StateServiceDefinition);
    this.stagedWrites = this.caller.service(this.canon, StagedWriteServiceDefinition);
    this.events = this.caller.service(this.canon, EventServiceDefinition);
    this.access = this.caller.service(this.canon, AccessServiceDefinition);
    this.audit = this.caller.service(this.canon, AuditServiceDefinition);
    this.admin = this.caller.service(this.canon, AdminServiceDefinition);
    this.drafts = this.caller.service(this.beside, DraftServiceDefinition);
  }

  /**
   * Iterates over the frames of the run that the request begins, to the last one or to where the run waits. After
   * a cut it goes on where it was. Who stops iterating hangs up; the run goes on.
   */
  respond(request: Parameters<typeof RespondRequest.fromPartial>[0], options?: CallOptions): AsyncGenerator<RunEvent, void> {
    const begin = withRequestId(RespondRequest.fromPartial(request));
    return this.followed(options, "", "", (runId, after, times) =>
      runId ? this.runs.attachRun({ runId, after }, times) : this.runs.respond(begin, times),
    );
  }

  /** The same in a draft. */
  respondInDraft(request: Parameters<typeof DraftRespondRequest.fromPartial>[0], options?: CallOptions): AsyncGenerator<RunEvent, void> {
    const begin = withRequestId(DraftRespondRequest.fromPartial(request));
    const { draftId } = begin;
    return this.followed(options, "", "", (runId, after, times) =>
      runId ? this.drafts.attachRun({ draftId, runId, after }, times) : this.drafts.respond(begin, times),
    );
  }

  /** The frames of a session's run after a position, `<epoch>.<seq>`; see `respond`. */
  attach(runId: string, after = "", options?: CallOptions): AsyncGenerator<RunEvent, void> {
    return this.followed(options, runId, after, (id, position, times) =>
      this.runs.attachRun({ runId: id, after: position }, times),
    );
  }

  /**
   * Iterates over the events of a project after a position, each once and in order, for ever. Throws when the
   * service was away for five minutes. An event's position is where to go on.
   */
  watch(projectId: string, after = 0n): AsyncGenerator<Event, void> {
    const open = (position: bigint) => this.events.watchEvents({ projectId, after: position });
    return followedFeed(open, after, this.caller.retries);
  }

  close(): void {
    this.canon.close();
    this.beside.close();
  }

  private followed(
    { timeout = STREAM_TIMEOUT }: CallOptions = {},
    runId: string,
    after: string,
    open: Parameters<typeof followedRun>[0],
  ) {
    return followedRun(open, runId, after, timeout, this.caller.retries);
  }
}
