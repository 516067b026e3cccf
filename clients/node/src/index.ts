/**
 * Stemma's services from Node: the generated stubs, with what a careful caller adds.
 *
 *     const stemma = new Stemma({ conversation: "127.0.0.1:50051" });
 *     const { session } = await stemma.sessions.createSession({ title: "Apples" });
 *
 * - a request without a `requestId` gets one, and keeps it through every retry: so a write happens once
 * - what passes (a connection that breaks, a server that stops or has too much to do) is tried again, after the
 *   pause that the server asks for or with growing ones, as long as the call's time allows
 * - refusals are exceptions with the reason and its metadata: `HeadMoved.currentHead`; see errors.ts
 * - `respond`, `attach` and `watch` go on after a cut where they were: no frame is lost or comes twice
 */
export { Stemma, type Options } from "./stemma.js";
export * from "./errors.js";
export { type Retries } from "./retries.js";
export type { Event } from "../gen/stemma/conversation/v1/event_service.js";
export type { Floor } from "../gen/stemma/kernel/v1/floor.js";
export { Role, type Message, type Page } from "../gen/stemma/kernel/v1/message.js";
export type { RunEvent } from "../gen/stemma/kernel/v1/run.js";
export { Placement } from "../gen/stemma/kernel/v1/staged_write.js";
