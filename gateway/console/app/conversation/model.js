// One conversation: what is shown of it, and how that follows the server. actions.js is what can be done to it.
//
// state: {loading, error, floors, positions, pending, failed, head, older, branches, run, candidates, moved, busy …}
// A turn that is being written is `pending`, shown after `floors`; `run` is its text so far.
import { announce } from "../lib/announce.js";
import { createStore } from "../lib/store.js";
import { attach, getRun, respond } from "../api/runs.js";
import { createActions } from "./actions.js";
import { emptyRun, foldFrame } from "./fold.js";
import { mergeNewest, withOlder } from "./path.js";

const EMPTY = { loading: true, floors: [], positions: {}, pending: null, failed: null, head: "", older: "",
  branches: [], run: null, candidates: null, moved: "", busy: "", error: null, editing: null, connection: "live" };

export function createConversation(source) {
  const store = createStore(EMPTY);
  let closing = new AbortController();
  let following = null;
  let turn = 0;

  /** Reads the newest part again, and follows what is being written there. */
  async function load() {
    try {
      const fresh = await source.open(closing.signal);
      if (following) return;
      store.set((last) => ({ ...last, ...mergeNewest(last, fresh), loading: false, moved: "", error: null }));
      await lookAtPending(fresh.pending);
    } catch (error) {
      if (!closing.signal.aborted) store.patch({ loading: false, error });
    }
  }

  async function lookAtPending(pending) {
    if (!pending) store.patch({ run: null, candidates: null });
    else if (pending.state === "FLOOR_STATE_GENERATING") {
      store.patch({ run: emptyRun(pending.runId, pending.floorId), candidates: null });
      follow((options) => attach(source.runPath, pending.runId, options)).catch(
        (error) => store.patch({ error }),
      );
    } else {
      const candidates = await source.candidates(pending);
      store.patch({ run: null, candidates });
    }
  }

  async function loadOlder() {
    const { older, busy } = store.get();
    if (!older || busy) return;
    await act("older", async () => {
      const more = await source.older(older);
      store.set((last) => withOlder(last, more));
    });
  }

  /** Shows a run until it ends, then what became of it. Raises what refused it. */
  async function follow(start) {
    const mine = new AbortController();
    following = mine;
    const signal = AbortSignal.any([mine.signal, closing.signal]);
    try {
      const onState = (connection) => store.patch({ connection });
      for await (const frame of start({ signal, onState })) {
        store.set((last) => ({ ...last, run: foldFrame(last.run ?? emptyRun(), frame) }));
      }
    } finally {
      if (following === mine) following = null;
    }
    if (!signal.aborted) await settle(store.get().run);
  }

  async function settle(run) {
    if (!run?.end) return;
    announce(SAID[run.end] ?? "");
    if (run.end === "requiresAction") return lookAtWaiting(await getRun(source.runPath, run.runId));
    // At once, from the frame, so that nothing jumps; then positions and branches, from the server.
    const committed = run.floor?.state === "FLOOR_STATE_COMMITTED";
    if (committed) {
      const floors = (last) => [...last.floors, run.floor];
      store.set((last) => ({ ...last, floors: floors(last), head: run.floor.floorId, pending: null, run: null }));
      release();
    }
    await load();
    // A draft names no failed floor; its run's last frame does.
    if (run.end === "failed" && run.floor && !store.get().failed) store.patch({ failed: run.floor });
  }

  /** What it waits for now: a frame says what it waited for first. Once it has all, it goes on. */
  async function lookAtWaiting({ runId, state, requiresAction }) {
    const { run } = store.get();
    if (state === "RUN_STATE_WAITING") {
      store.patch({ run: { ...run, ...requiresAction, end: "requiresAction" } });
      return undefined;
    }
    store.patch({ run: { ...run, calls: [], end: "" } });
    return follow((options) => attach(source.runPath, runId, options, run.after));
  }

  /** The next thing may begin, though what began before still looks around. */
  function release() {
    turn += 1;
    store.patch({ busy: "" });
  }

  /** One thing at a time; what fails is shown, with a way to try again. */
  async function act(busy, action) {
    if (store.get().busy) return false;
    store.patch({ busy, error: null });
    turn += 1;
    const mine = turn;
    try {
      await action();
      return true;
    } catch (error) {
      if (closing.signal.aborted) return false;
      const moved = error.reason === "HEAD_MOVED" ? error.metadata.current_head : store.get().moved;
      store.patch({ error, moved });
      return false;
    } finally {
      if (mine === turn) store.patch({ busy: "" });
    }
  }

  /** Starts a run. `shown`: how the path looks meanwhile; if it is refused, it looks as before. */
  function generate(action, count, shown) {
    return act("run", async () => {
      const before = store.get();
      store.patch({ ...shown, run: emptyRun(), candidates: null, failed: null, editing: null, connection: "live" });
      const body = { ...source.where, expectedHead: before.head, ...action };
      if (count > 1) body.candidateCount = count;
      try {
        await follow((options) => respond(source.respondPath, source.runPath, body, options));
        if (store.get().run?.runId === "") {
          store.set((last) => restored(last, before));
          await load();
        }
      } catch (error) {
        store.set((last) => (last.run?.runId ? last : restored(last, before)));
        throw error;
      }
    });
  }

  const conversation = {
    store,
    source,
    load,
    loadOlder,
    close() {
      closing.abort();
      closing = new AbortController();
      following = null;
    },
  };
  const giveUp = () => following?.abort();
  return { ...conversation, ...createActions({ ...conversation, act, generate, lookAtWaiting, giveUp }) };
}

const SAID = {
  floorCommitted: "The answer is complete.",
  held: "The candidates are complete. Choose one.",
  failed: "The answer failed.",
  cancelled: "Stopped.",
  requiresAction: "The model waits for you.",
};

function restored(last, { floors, pending, failed, head, candidates, run, editing }) {
  return { ...last, floors, pending, failed, head, candidates, run, editing };
}
