/**
 * The whole story from Node: a conversation, an edit, a run that breaks off and goes on, a draft, its acceptance,
 * and the feed. Checks what it is told at every step; ends with 1 at the first that is not so.
 *
 * It asks STEMMA_CONVERSATION and STEMMA_DRAFT, with STEMMA_API_KEY if it is set.
 */
import { deepStrictEqual } from "node:assert";
import { randomUUID } from "node:crypto";

import {
  AlreadyDecided, DeadlineExceeded, HeadMoved, NotFound, Placement, Role, Stemma,
  type Floor, type Page, type RunEvent,
} from "stemma-client";

const FIFTEEN = "My train leaves in fifteen minutes. Is there time for a coffee?";
const FIFTY = "My train leaves in fifty minutes. Is there time for a coffee?";

const say = (text: string, role = Role.ROLE_USER) => ({ role, parts: [{ kind: { $case: "text" as const, value: { text } } }] });
const answer = (text: string) => say(text, Role.ROLE_ASSISTANT);

function textOf(page: Page | undefined): string {
  const parts = (page?.messages ?? []).flatMap((message) => message.parts);
  return parts.map(({ kind }) => (kind?.$case === "text" ? kind.value.text : "")).join("");
}

function check(isSo: unknown, what: string): asserts isSo {
  if (!isSo) throw new Error(`not so: ${what}`);
}

function log(step: string, what: string): void {
  console.log(`${step.padEnd(9)} ${what}`);
}

/** What a call is refused with. */
async function refusal(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => check(false, "it is refused"),
    (error: unknown) => error,
  );
}

/** The floor that the frames of a whole run end with: it says what they say. */
function committed(seen: RunEvent[]): Floor {
  deepStrictEqual(seen.map(({ seq }) => seq), seen.map((_, index) => BigInt(index + 1)));
  const last = seen.at(-1)?.event;
  check(last?.$case === "floorCommitted" && last.value.floor, "the last frame says what was committed");
  const joined = seen.map(({ event }) => (event?.$case === "textDelta" ? event.value.text : "")).join("");
  check(joined && joined === textOf(last.value.floor.outputPage), "the frames' text is the page's");
  return last.value.floor;
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const seen = [];
  for await (const event of events) seen.push(event);
  return seen;
}

/** One project with one session, and the head that its branch should have. */
class Story {
  private sessionId = "";
  private head = "";

  constructor(
    private readonly stemma: Stemma,
    private readonly projectId: string,
  ) {}

  async session(): Promise<void> {
    const request = { requestId: randomUUID(), projectId: this.projectId, title: "Coffee" };
    const { session } = await this.stemma.sessions.createSession(request);
    const again = await this.stemma.sessions.createSession(request);
    check(session && again.session?.sessionId === session.sessionId, "one requestId makes one session");
    this.sessionId = session.sessionId;
    this.head = session.rootFloorId;
    log("session", "asked for twice with one request_id, made once");
  }

  async append(): Promise<void> {
    const { floor, branch } = await this.stemma.floors.appendFloor({
      sessionId: this.sessionId, expectedHead: this.head, input: [say(FIFTEEN)], output: [answer("Hardly.")],
    });
    check(floor && branch?.headFloorId === floor.floorId, "the new floor is the head");
    this.head = floor.floorId;
    log("append", "a turn, committed");
  }

  async edit(): Promise<void> {
    const before = this.head;
    const edit = { floorId: before, input: [say(FIFTY)], output: [answer("Plenty of it.")] };
    const { floor } = await this.stemma.floors.editFloor(edit);
    check(floor, "it is answered with the new floor");
    this.head = floor.floorId;
    const { floors } = await this.stemma.floors.listSiblings({ floorId: this.head });
    deepStrictEqual(floors.map(({ floorId }) => floorId), [before, this.head]);
    deepStrictEqual((await this.path()).map(({ inputPage }) => textOf(inputPage)), [FIFTY]);
    log("edit", "fifteen became fifty; the path has the new turn, the old one stays beside it");
  }

  async conflict(): Promise<void> {
    const turn = { sessionId: this.sessionId, input: [say("Thanks.")] };
    const moved = await refusal(this.stemma.floors.appendFloor({ ...turn, expectedHead: randomUUID() }));
    check(moved instanceof HeadMoved && moved.currentHead === this.head, "HEAD_MOVED names the head");
    const { floor } = await this.stemma.floors.appendFloor({ ...turn, expectedHead: moved.currentHead });
    this.head = floor?.floorId ?? "";
    log("conflict", "HEAD_MOVED named the head; the turn went in below it");
  }

  async respond(): Promise<void> {
    const seen: RunEvent[] = [];
    const action = { $case: "input" as const, value: { messages: [say("Which one?")] } };
    for await (const event of this.stemma.respond({ sessionId: this.sessionId, action })) {
      seen.push(event);
      // Hanging up ends the call, not the run: that is the server's.
      if (seen.length === 3) break;
    }
    const last = seen.at(-1);
    check(last, "frames come");
    seen.push(...(await all(this.stemma.attach(last.runId, `${last.epoch}.${last.seq}`))));
    const floor = committed(seen);
    deepStrictEqual((await this.path()).at(-1), floor);
    this.head = floor.floorId;
    log("respond", "hung up after 3 frames, attached after the third: no frame lost, none twice");
  }

  /** The id of the staged write that came of it. */
  async draft(): Promise<string> {
    const source = { $case: "sessionId" as const, value: this.sessionId };
    const { draft } = await this.stemma.drafts.createDraft({ source, purpose: "a second opinion" });
    const draftId = draft?.draftId ?? "";
    const action = { $case: "input" as const, value: { messages: [say("Say it differently.")] } };
    committed(await all(this.stemma.respondInDraft({ draftId, action })));
    const exported = await this.stemma.drafts.exportDraft({
      draftId,
      target: { placement: Placement.PLACEMENT_NEXT_FLOOR },
      parts: [{ part: { $case: "outputPage", value: {} } }],
      reason: "reads better",
      finalize: true,
    });
    check((await this.path()).at(-1)?.floorId === this.head, "a draft and its export leave the conversation as it is");
    log("draft", "answered beside the conversation, exported, nothing of it there yet");
    return exported.stagedWriteId;
  }

  async accept(stagedWriteId: string): Promise<void> {
    const decision = { stagedWriteId, expectedHead: this.head, reason: "agreed" };
    const { floor } = await this.stemma.stagedWrites.acceptStagedWrite(decision);
    check(floor?.parentFloorId === this.head, "it became the head's child");
    deepStrictEqual((await this.path()).at(-1), floor);
    const again = this.stemma.stagedWrites.acceptStagedWrite({ stagedWriteId, reason: "agreed again" });
    check((await refusal(again)) instanceof AlreadyDecided, "a second decision is refused");
    log("accept", "the draft's answer is a turn now; a second decision is refused");
  }

  async watch(): Promise<void> {
    const types: string[] = [];
    while (!types.includes("staged_write.accepted")) {
      let taken = 0;
      // A few at a time: each time the feed is asked for what follows the last position.
      for await (const event of this.stemma.watch(this.projectId, BigInt(types.length))) {
        types.push(event.type);
        check(event.position === BigInt(types.length), "each event once, in order");
        taken += 1;
        if (taken === 4 || event.type === "staged_write.accepted") break;
      }
    }
    check(types.filter((type) => type === "floor.committed").length === 5, "each turn has its event");
    log("watch", `${types.length} events, four at a time, each once and in order`);
  }

  async refusals(): Promise<void> {
    const unknown = this.stemma.sessions.getSession({ sessionId: randomUUID() });
    check((await refusal(unknown)) instanceof NotFound, "an unknown session is not found");
    const { lastPosition: after } = await this.stemma.events.listEvents({ projectId: this.projectId });
    const silent = this.stemma.events.watchEvents({ projectId: this.projectId, after }, { timeout: 300 });
    check((await refusal(all(silent))) instanceof DeadlineExceeded, "the deadline ends it");
    log("refusals", "NOT_FOUND has a type of its own; a deadline is kept");
  }

  private async path(): Promise<Floor[]> {
    return (await this.stemma.floors.listPath({ sessionId: this.sessionId })).floors;
  }
}

const stemma = new Stemma();
const { project } = await stemma.projects.createProject({ title: "The story in Node" });
const story = new Story(stemma, project?.projectId ?? "");
await story.session();
await story.append();
await story.edit();
await story.conflict();
await story.respond();
await story.accept(await story.draft());
await story.watch();
await story.refusals();
stemma.close();
console.log("ok");
