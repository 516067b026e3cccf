/** Streams that go on after a cut where they were. */
import { status as Code } from "@grpc/grpc-js";

import type { Event } from "../gen/stemma/conversation/v1/event_service.js";
import type { RunEvent } from "../gen/stemma/kernel/v1/run.js";
import type { CallOptions } from "./calls.js";
import { StemmaError } from "./errors.js";
import { Times, type Retries } from "./retries.js";

const LAST = ["floorCommitted", "held", "failed", "cancelled"];
// How long the service may be away before a watcher gives up.
const PATIENCE = 300_000;
// A feed that has stood for so long was there, also when nothing happened in the project.
const STOOD = 10_000;

type Answers<E> = AsyncIterable<{ event?: E | undefined }>;

/** `open` is given the run's id, empty for one that is yet to begin, and the position of the last frame. */
export async function* followedRun(
  open: (runId: string, after: string, options: CallOptions) => Answers<RunEvent>,
  runId: string,
  after: string,
  timeout: number,
  retries: Retries,
): AsyncGenerator<RunEvent, void> {
  const times = new Times(timeout, retries);
  for (;;) {
    try {
      for await (const { event } of open(runId, after, { timeout: times.left() })) {
        if (!event) continue;
        ({ runId } = event);
        after = `${event.epoch}.${event.seq}`;
        times.attempt = 0;
        yield event;
        if (LAST.includes(event.event?.$case ?? "")) return;
      }
      // A run that waits ends this stream of it, and not the run.
      return;
    } catch (error) {
      if (!(error instanceof StemmaError)) throw error;
      await times.wait(error);
    }
  }
}

export async function* followedFeed(
  open: (after: bigint) => Answers<Event>,
  after: bigint,
  retries: Retries,
): AsyncGenerator<Event, void> {
  const times = new Times(PATIENCE, retries);
  for (;;) {
    const opened = Date.now();
    try {
      for await (const { event } of open(after)) {
        if (!event) continue;
        after = event.position;
        times.again();
        yield event;
      }
    } catch (error) {
      if (!(error instanceof StemmaError)) throw error;
      if (Date.now() - opened > STOOD) times.again();
      // Otherwise a stream's time was up, not the watcher's.
      if (error.code !== Code.DEADLINE_EXCEEDED) await times.wait(error);
    }
  }
}
