// What a turn says, for the turns in view: GetTree brings no text, so it is fetched a piece of path at a time.
// Floors never change, so what is known stays known.
import { getFloor, listPath } from "../api/floors.js";
import { clip } from "../lib/format.js";
import { floorLine } from "../lib/messages.js";
import { createStore } from "../lib/store.js";

const AT_ONCE = 3;
const PIECE = 12;

export function createLabels(sessionId) {
  const store = createStore(new Map());
  const asked = new Set();
  let waiting = [];
  let running = 0;

  async function fetchOne({ floorId, state }) {
    if (state === "FLOOR_STATE_COMMITTED") {
      const query = { floorId, order: "PATH_ORDER_HEAD_FIRST", pageSize: PIECE };
      return (await listPath(sessionId, query)).floors;
    }
    return [(await getFloor(floorId)).floor];
  }

  async function work() {
    if (running >= AT_ONCE) return;
    running += 1;
    for (let floor = waiting.shift(); floor; floor = waiting.shift()) {
      if (store.get().has(floor.floorId)) continue;
      try {
        const found = await fetchOne(floor);
        store.set((last) => new Map([...last, ...found.map((one) => [one.floorId, clip(floorLine(one), 60)])]));
      } catch {
        // Its number is label enough; it may be asked for again later.
        asked.delete(floor.floorId);
      }
    }
    running -= 1;
  }

  return {
    store,
    /** Asks for the labels of these floors, before any that were asked for earlier. */
    want(floors) {
      const fresh = floors.filter((floor) => floor.depth > 0 && !asked.has(floor.floorId));
      // From the leaves up: each piece of path brings its ancestors.
      fresh.sort((a, b) => b.depth - a.depth);
      for (const floor of fresh) asked.add(floor.floorId);
      waiting = [...fresh, ...waiting];
      for (let count = 0; count < AT_ONCE; count += 1) void work();
    },
  };
}
