// The whole tree of a session.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { plural } from "../lib/format.js";
import { useLoaded } from "../lib/hooks.js";
import { useStore } from "../lib/store.js";
import { getTree, listBranches } from "../api/floors.js";
import { IconButton } from "../parts/icons.js";
import { Loaded } from "../parts/notice.js";
import { useCamera } from "./camera.js";
import { Detail } from "./detail.js";
import { Drawing, inView } from "./drawing.js";
import { neighbourOf } from "./keys.js";
import { createLabels } from "./labels.js";
import { Minimap } from "./minimap.js";
import { HEIGHT, index, layout, stateOf, WIDTH } from "./shape.js";

const MARGIN = 24;

async function load(sessionId) {
  const floors = [];
  let token = "";
  do {
    const page = await getTree(sessionId, token);
    floors.push(...page.floors);
    token = page.nextPageToken;
  } while (token);
  return { floors, branches: await listBranches(sessionId) };
}

export function TreeView({ sessionId, branch, query, refresh }) {
  const loaded = useLoaded(() => load(sessionId), [sessionId]);
  const labels = useMemo(() => createLabels(sessionId), [sessionId]);
  const changed = async () => {
    await Promise.all([loaded.reload(), refresh()]);
  };
  return html`<div class="tree-view">
    <${Loaded} of=${loaded}>
      ${(value) => html`<${Board} ...${value} sessionId=${sessionId} branch=${branch} labels=${labels} first=${query.get("floor")} onChanged=${changed} />`}
    <//>
  </div>`;
}

function Board({ floors, branches, sessionId, branch, labels, first, onChanged }) {
  const frame = useRef(null);
  const [open, setOpen] = useState(new Set());
  const [closed, setClosed] = useState(new Set());
  const head = branches.find((one) => one.name === branch)?.headFloorId;
  const [selected, setSelected] = useState(first || "");
  const indexed = useMemo(() => index(floors, branches, branch), [floors, branches, branch]);
  // Chosen by keyboard or click, a card is never folded away under one's hands.
  const shape = useMemo(() => layout(indexed, { open, closed, keep: first }), [indexed, open, closed, first]);
  const [camera, controls] = useCamera(frame);
  const known = useStore(labels.store);
  const shown = useMemo(() => inView(shape.items, camera), [shape, camera]);
  useEffect(() => {
    if (camera.k > 0.4) labels.want(shown.filter((one) => one.count === 1).map((one) => one.node.floor));
  }, [shown]);
  const ready = camera.width > 0;
  useEffect(() => {
    const item = shape.byId.get(first || head) ?? shape.items[0];
    if (ready && item) controls.centre(item.x, item.y, 1);
  }, [ready]);
  useEffect(() => {
    // The panel takes room: what was chosen stays in view.
    const item = shape.byId.get(selected);
    if (item && ready) controls.panBy(...intoView(item, camera));
  }, [selected, camera.width, camera.height]);
  const reveal = useCallback((id) => {
    setSelected(id);
    const item = shape.byId.get(id);
    if (item) controls.centre(item.x, item.y);
    requestAnimationFrame(() => requestAnimationFrame(() => frame.current?.querySelector(`[data-item="${id}"]`)?.focus()));
  }, [shape]);
  const toggle = ({ id, count }) => (count > 1 ? setOpen(flipped(open, id)) : setClosed(flipped(closed, id)));
  const onKeyDown = (event) => onKey(event, { shape, selected: selected || head, reveal, toggle, controls, setSelected });
  const node = indexed.nodes.get(selected);
  return html`<div class="tree-board">
    <div class="tree-frame" ref=${frame} onKeyDown=${onKeyDown}>
      ${ready && html`<${Drawing} shape=${shape} camera=${camera} labels=${known} selected=${selected} onSelect=${setSelected} onToggle=${toggle} />`}
    </div>
    <p class="tree-sum fine">${summary(indexed)}</p>
    <div class="tree-tools" role="group" aria-label="Zoom">
      <${IconButton} icon="plus" label="Nearer" onClick=${() => controls.zoomAt(1.3)} />
      <button type="button" class="icon-button" aria-label="Farther" title="Farther" onClick=${() => controls.zoomAt(1 / 1.3)}>−</button>
      <${IconButton} icon="fit" label="Show all" onClick=${() => controls.fit(shape.bounds)} />
      <${IconButton} icon="branch" label="To the head" onClick=${() => reveal(head)} />
    </div>
    ${ready && html`<${Minimap} shape=${shape} camera=${camera} onCentre=${controls.centre} />`}
    ${node && html`<${Detail} key=${selected} node=${node} sessionId=${sessionId} branch=${branch} head=${head} onChanged=${onChanged} onClose=${() => setSelected("")} />`}
  </div>`;
}

/** How far to pan so that a card is whole in view: no farther than needed. */
function intoView({ x, y }, { x: dx, y: dy, k, width, height }) {
  const into = (middle, size, room) => {
    const half = (size * k) / 2 + MARGIN;
    return Math.min(Math.max(middle, half), Math.max(half, room - half)) - middle;
  };
  return [into(x * k + dx, WIDTH, width), into(y * k + dy, HEIGHT, height)];
}

function flipped(set, id) {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}

function summary({ nodes }) {
  let abandoned = 0;
  for (const node of nodes.values()) if (stateOf(node) === "abandoned") abandoned += 1;
  return `${plural(nodes.size - 1, "turn")}${abandoned ? `, ${abandoned} abandoned` : ""}`;
}

/** Arrows walk the tree; Enter looks or opens; Space folds; + - 0 zoom. */
function onKey(event, { shape, selected, reveal, toggle, controls, setSelected }) {
  const focused = event.target.closest?.("[data-item]")?.dataset.item ?? selected;
  const next = neighbourOf(shape, focused, event.key);
  const item = shape.byId.get(focused);
  if (next) reveal(next);
  else if (event.key === "Enter" && item) item.count > 1 ? toggle(item) : setSelected(item.id);
  else if (event.key === " " && item) toggle(item);
  else if (event.key === "Escape") setSelected("");
  else if (event.key === "+" || event.key === "=") controls.zoomAt(1.3);
  else if (event.key === "-") controls.zoomAt(1 / 1.3);
  else if (event.key === "0") controls.fit(shape.bounds);
  else return;
  event.preventDefault();
}
