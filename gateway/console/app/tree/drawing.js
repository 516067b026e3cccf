// The drawing itself: what is in view, as SVG. Thousands of turns cost as much as those that are seen.
import { html } from "../lib/html.js";
import { clip, number } from "../lib/format.js";
import { HEIGHT, stateOf, WIDTH } from "./shape.js";

const LETTERS = 20;
// Farther away than this, text is a smear: cards are drawn without.
const LEGIBLE = 0.45;

/** Items that the camera sees. */
export function inView(items, { x, y, k, width, height }) {
  const left = -x / k - WIDTH;
  const right = (width - x) / k + WIDTH;
  const top = -y / k - HEIGHT;
  const bottom = (height - y) / k + HEIGHT;
  return items.filter((one) => one.x > left && one.x < right && one.y > top && one.y < bottom);
}

export function Drawing({ shape, camera, labels, selected, onSelect, onToggle }) {
  const { x, y, k, width, height } = camera;
  const shown = inView(shape.items, camera);
  const top = -y / k - HEIGHT;
  const bottom = (height - y) / k + HEIGHT;
  const links = shape.links.filter((one) => one.y2 > top && one.y1 < bottom && k * Math.abs(one.x1 - one.x2) < width * 40);
  const text = k >= LEGIBLE;
  // Without the chosen one in view, the first in view takes the keyboard's focus.
  const focusable = shown.some((one) => one.id === selected) ? selected : shown[0]?.id;
  return html`<svg class="tree-svg" width=${width} height=${height} role="tree" aria-label="Turns of this conversation">
    <g transform=${`translate(${x} ${y}) scale(${k})`} role="group">
      <g aria-hidden="true">
        ${links.map((one) => html`<path key=${one.id} class=${`link ${stateOf(one.node)}`} d=${curve(one)} />`)}
      </g>
      ${shown.map(
        (item) => html`<${Card}
          key=${item.id}
          item=${item}
          label=${labels.get(item.id)}
          text=${text}
          selected=${item.id === selected}
          focusable=${item.id === focusable}
          onSelect=${onSelect}
          onToggle=${onToggle}
        />`,
      )}
    </g>
  </svg>`;
}

function curve({ x1, y1, x2, y2 }) {
  const from = y1 + HEIGHT / 2;
  const to = y2 - HEIGHT / 2;
  const middle = (from + to) / 2;
  return `M${x1},${from} C${x1},${middle} ${x2},${middle} ${x2},${to}`;
}

function Card({ item, label, text, selected, focusable, onSelect, onToggle }) {
  const { node, count } = item;
  const { floor } = node;
  const state = stateOf(node);
  const open = floor.state === "FLOOR_STATE_OPEN" || floor.state === "FLOOR_STATE_GENERATING";
  const name = floor.depth === 0 ? "Beginning" : count > 1 ? `${number(count)} turns` : label || `Turn ${floor.depth}`;
  const fine = count > 1 ? `turns ${floor.depth}–${floor.depth + count - 1} · open` : fineLine(node, open);
  // What is seen, in its order, so that whoever speaks to the page can say it; then what only the looks tell.
  const said = [clip(name, LETTERS), fine, ...node.heads, item.hidden ? `${item.hidden} hidden` : "", WORDS[state]];
  const act = () => (count > 1 ? onToggle(item) : onSelect(item.id));
  return html`<g
    class=${`card-node ${state} ${count > 1 ? "fold-node" : ""} ${selected ? "selected" : ""} ${open ? "open" : ""}`}
    transform=${`translate(${item.x - WIDTH / 2} ${item.y - HEIGHT / 2})`}
    role="treeitem"
    aria-level=${floor.depth + 1}
    aria-selected=${selected ? "true" : "false"}
    aria-expanded=${item.childItems.length || item.hidden ? String(!item.hidden) : undefined}
    aria-label=${said.filter(Boolean).join(" ")}
    tabindex=${focusable ? 0 : -1}
    data-item=${item.id}
    onClick=${act}
  >
    <rect width=${WIDTH} height=${HEIGHT} rx="12" />
    ${text &&
    html`<svg aria-hidden="true" x="14" width=${WIDTH - 28} height=${HEIGHT}>
      <text class="title" y="22">${`${clip(name, LETTERS)} `}</text>
      <text class="fine" y="40">${`${fine} `}</text>
    </svg>`}
    ${node.heads.map((one, place) => html`<${Head} name=${one} place=${place} />`)}
    ${node.children.length > 0 && count === 1 && floor.depth > 0 && html`<${Knob} item=${item} onToggle=${onToggle} />`}
  </g>`;
}

const WORDS = { active: "on the active path", elsewhere: "on another branch", abandoned: "abandoned", failed: "failed" };

function fineLine({ floor, parent }, open) {
  if (floor.depth === 0) return "";
  const own = Number(floor.pathTokens) - Number(parent?.floor.pathTokens ?? 0);
  const size = open || floor.state === "FLOOR_STATE_FAILED" ? "" : ` · ${number(own)} tokens`;
  const word = open ? " · unfinished" : floor.state === "FLOOR_STATE_FAILED" ? " · failed" : "";
  return `turn ${floor.depth}${size}${word}`;
}

function Head({ name, place }) {
  const width = Math.min(110, name.length * 7 + 16);
  return html`<g aria-hidden="true" class="head-flag" transform=${`translate(${WIDTH - width - 8} ${-14 - place * 22})`}>
    <rect width=${width} height="20" rx="10" />
    <text x=${width / 2} y="14" text-anchor="middle">${`${clip(name, 14)} `}</text>
  </g>`;
}

/** Hides and shows what hangs below. */
function Knob({ item, onToggle }) {
  const click = (event) => {
    event.stopPropagation();
    onToggle(item);
  };
  return html`<g aria-hidden="true" class="knob" transform=${`translate(${WIDTH / 2} ${HEIGHT})`} onClick=${click}>
    <circle r="13" class="knob-hit" /><circle r="8" />
    <path d=${item.hidden ? "M-4 0h8M0 -4v8" : "M-4 0h8"} />
    ${item.hidden > 0 && html`<text x="14" y="5">${number(item.hidden)}</text>`}
  </g>`;
}
