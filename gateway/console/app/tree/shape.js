// A session's floors as a tree to draw: the active path marked, long unforked runs folded. Pure.
import { hierarchy, tree } from "d3-hierarchy";

export const WIDTH = 190;
export const HEIGHT = 52;
const GAP_X = 22;
const GAP_Y = 34;
// A run shorter than this is not worth folding.
const SHORTEST_FOLD = 5;

/** Floors (parents first) as {root, nodes}: a node is {floor, parent, children, onPath, onBranch, heads}. */
export function index(floors, branches, branch) {
  const nodes = new Map();
  for (const floor of floors) {
    const parent = nodes.get(floor.parentFloorId) ?? null;
    const node = { floor, parent, children: [], onPath: false, onBranch: false, heads: [] };
    nodes.set(floor.floorId, node);
    parent?.children.push(node);
  }
  for (const node of nodes.values()) node.children.sort((a, b) => a.floor.ordinal - b.floor.ordinal);
  for (const one of branches) {
    const own = one.name === branch;
    nodes.get(one.headFloorId)?.heads.push(one.name);
    for (const id of [one.headFloorId, one.pendingFloorId]) {
      // Another branch's mark ends the walk; the active path goes to the root.
      for (let node = nodes.get(id); node && !(own ? node.onPath : node.onBranch); node = node.parent) {
        node.onBranch = true;
        if (own) node.onPath = true;
      }
    }
  }
  const root = [...nodes.values()].find((node) => !node.parent);
  return { root, nodes };
}

/**
 * What is drawn: {items, links, bounds}. An item is {id, node, x, y, count, hidden}: `count` > 1 is a folded run
 * that begins with `node`; `hidden` counts what a closed node hides.
 *
 * @param open Ids of folded runs that were opened. @param closed Ids of nodes whose children are hidden.
 * @param keep The id of a node that is not folded away.
 */
export function layout({ root }, { open, closed, keep }) {
  const top = hierarchy(folded(root, open, keep), (item) => (closed.has(item.id) ? null : item.next()));
  tree().nodeSize([WIDTH + GAP_X, HEIGHT + GAP_Y]).separation(() => 1)(top);
  const items = [];
  const links = [];
  const bounds = { left: Infinity, right: -Infinity, top: -HEIGHT / 2, bottom: 0 };
  top.each((placed) => {
    const { x, y, data } = placed;
    const hidden = closed.has(data.id) ? size(data.last) - 1 : 0;
    items.push({ ...data, x, y, hidden, parentItem: placed.parent?.data.id, childItems: placed.children?.map((one) => one.data.id) ?? [] });
    if (placed.parent) links.push({ id: data.id, x1: placed.parent.x, y1: placed.parent.y, x2: x, y2: y, node: data.node });
    bounds.left = Math.min(bounds.left, x - WIDTH / 2);
    bounds.right = Math.max(bounds.right, x + WIDTH / 2);
    bounds.bottom = Math.max(bounds.bottom, y + HEIGHT / 2);
  });
  return { items, links, bounds, byId: new Map(items.map((item) => [item.id, item])) };
}

/** @param opened Whether `node` goes on a run that was opened above it: to its end, nothing of it is folded. */
function folded(node, open, keep, opened = false) {
  const unfold = opened || open.has(idOf(node));
  const run = unfold ? [node] : runFrom(node, keep);
  const last = run.at(-1);
  const goesOn = unfold && foldable(node, keep);
  const next = () => last.children.map((child) => folded(child, open, keep, goesOn));
  return { id: idOf(node), node, last, count: run.length, next };
}

const idOf = (node) => node.floor.floorId;
const straight = (node) => node.children.length === 1;

/** Nodes that can be drawn as one, from `node` down; alone when they are few. */
function runFrom(node, keep) {
  const run = [node];
  let last = node;
  while (foldable(last, keep) && straight(last) && foldable(last.children[0], keep)) {
    last = last.children[0];
    run.push(last);
  }
  return run.length >= SHORTEST_FOLD ? run : [node];
}

function foldable(node, keep) {
  return node.parent && straight(node) && node.heads.length === 0 && idOf(node) !== keep;
}

/** How many nodes hang at one, itself included. Without recursion: trees are deep. */
export function size(node) {
  let count = 0;
  const waiting = [node];
  while (waiting.length) {
    const next = waiting.pop();
    count += 1;
    waiting.push(...next.children);
  }
  return count;
}

/** Of the path in view, of another branch, or abandoned. */
export function stateOf(node) {
  if (node.floor.state === "FLOOR_STATE_FAILED") return "failed";
  if (node.onPath) return "active";
  return node.onBranch ? "elsewhere" : "abandoned";
}
