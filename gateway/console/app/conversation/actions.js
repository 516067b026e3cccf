// What can be done to a conversation. Every write names the head that is seen, so that nothing is done to another.
import { announce } from "../lib/announce.js";
import { assistantMessage, userMessage } from "../lib/messages.js";
import { cancelRun, submitToolResults } from "../api/runs.js";
import { neighbour } from "./path.js";

// Pages of a path that are loaded to reach a turn.
const FARTHEST = 100;

/** @param own What model.js lends: its store, and how to act, generate and look again. */
export function createActions(own) {
  const { store, source, load, loadOlder, act, generate, lookAtWaiting, giveUp } = own;
  const at = (floorId) => store.get().floors.findIndex((floor) => floor.floorId === floorId);
  const before = (floorId) => {
    const index = at(floorId);
    return index < 0 ? store.get().floors : store.get().floors.slice(0, index);
  };
  const written = (inputPage, like) => ({ floorId: "", state: "FLOOR_STATE_GENERATING", inputPage, outputPage: null, depth: like });
  const depthAfter = (floors) => (floors.at(-1)?.depth ?? 0) + 1;
  const head = () => store.get().head;

  return {
    send(text, count = 1) {
      const messages = [userMessage(text)];
      const { floors } = store.get();
      return generate({ input: { messages } }, count, { pending: written({ messages }, depthAfter(floors)) });
    },
    edit(floor, text) {
      const messages = [userMessage(text)];
      const floors = before(floor.floorId);
      const shown = { floors, pending: written({ messages }, floor.depth) };
      return generate({ edit: { floorId: floor.floorId, messages } }, 1, shown);
    },
    regenerate(floor, count = 1) {
      const floors = before(floor.floorId);
      const shown = { floors, pending: written(floor.inputPage, floor.depth) };
      return generate({ regenerate: { floorId: floor.floorId } }, count, shown);
    },
    resume(floor, count = 1) {
      return generate({ resume: { floorId: floor.floorId } }, count, { pending: { ...floor, outputPage: null } });
    },
    editAnswer: (floor, text) =>
      act("answer", async () => {
        await source.replaceAnswer(floor.floorId, [assistantMessage(text)], head());
        store.patch({ editing: null });
        await load();
      }),
    /** To the version `by` steps away, on the side of the input or of the output. */
    step: (floor, side, by) =>
      act("step", async () => {
        const found = neighbour(await source.siblings(floor.floorId), floor.floorId, side, by);
        if (!found) return;
        await source.select(found.floorId, head());
        await load();
        const { inputIndex, inputCount, outputIndex, outputCount } = store.get().positions[found.floorId] ?? {};
        const [index, count] = side === "input" ? [inputIndex, inputCount] : [outputIndex, outputCount];
        announce(`Version ${index} of ${count}`);
      }),
    moveTo: (floorId, said = "Rolled back") =>
      act("move", async () => {
        await source.move(floorId, head());
        await load();
        announce(said);
      }),
    choose: (pageId) =>
      act("choose", async () => {
        await source.commit(store.get().pending.floorId, pageId, head());
        store.patch({ candidates: null, pending: null });
        await load();
      }),
    discard: () =>
      act("discard", async () => {
        await source.abandon(store.get().pending.floorId);
        await load();
      }),
    async stop() {
      const { run } = store.get();
      // Not known to have begun: we stop asking, and look at what there is.
      if (!run?.runId) giveUp();
      else await cancelRun(source.runPath, run.runId).catch((error) => store.patch({ error }));
    },
    /** Loads until a turn of the path is there; whether it is. */
    async loadTo(floorId) {
      for (let pages = 0; at(floorId) < 0 && store.get().older && pages < FARTHEST; pages += 1) await loadOlder();
      return at(floorId) >= 0;
    },
    submit: (body) =>
      act("submit", async () => {
        const { run } = store.get();
        const answer = await submitToolResults(source.runPath, run.runId, body);
        await lookAtWaiting(answer.run);
      }),
    startEdit: (floor, side) => store.patch({ editing: { floorId: floor.floorId, side } }),
    endEdit: () => store.patch({ editing: null }),
    dismiss: () => store.patch({ error: null, moved: "" }),
    dismissFailed: () => store.patch({ failed: null }),
    /** The feed says that the branch went to `floorId`. It may tell late of a move of our own: we ask, then say. */
    async tellMoved(floorId) {
      const calm = () => !store.get().busy && !store.get().run;
      if (floorId === head() || !calm()) return;
      const now = await source.headNow();
      if (calm()) store.patch({ moved: now === head() ? "" : now });
    },
  };
}
