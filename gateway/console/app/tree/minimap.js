// The whole drawing, small, and the part in view; a click goes there.
import { useEffect, useRef } from "preact/hooks";
import { html } from "../lib/html.js";
import { HEIGHT, stateOf, WIDTH } from "./shape.js";

const W = 150;
const H = 110;

export function Minimap({ shape, camera, onCentre }) {
  const canvas = useRef(null);
  const { bounds } = shape;
  const scale = Math.min(W / (bounds.right - bounds.left), H / (bounds.bottom - bounds.top));
  const dx = (W - (bounds.right - bounds.left) * scale) / 2 - bounds.left * scale;
  const dy = (H - (bounds.bottom - bounds.top) * scale) / 2 - bounds.top * scale;
  useEffect(() => {
    const element = canvas.current;
    const pen = element.getContext("2d");
    const ratio = window.devicePixelRatio || 1;
    element.width = W * ratio;
    element.height = H * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(element);
    const colours = { active: "--accent", elsewhere: "--ink-soft", abandoned: "--line-strong", failed: "--warn" };
    const ink = Object.fromEntries(Object.entries(colours).map(([key, name]) => [key, style.getPropertyValue(name)]));
    for (const { x, y, node } of shape.items) {
      pen.fillStyle = ink[stateOf(node)];
      pen.fillRect((x - WIDTH / 2) * scale + dx, (y - HEIGHT / 2) * scale + dy, Math.max(1.5, WIDTH * scale), Math.max(1, HEIGHT * scale));
    }
  }, [shape]);
  const go = (event) => {
    const box = canvas.current.getBoundingClientRect();
    onCentre((event.clientX - box.left - dx) / scale, (event.clientY - box.top - dy) / scale);
  };
  const { x, y, k, width, height } = camera;
  const view = { x: (-x / k) * scale + dx, y: (-y / k) * scale + dy, width: (width / k) * scale, height: (height / k) * scale };
  return html`<div class="minimap" aria-hidden="true" onPointerDown=${(event) => (event.stopPropagation(), go(event))}>
    <canvas ref=${canvas} class="minimap-canvas"></canvas>
    <svg viewBox=${`0 0 ${W} ${H}`}><rect ...${view} rx="3" /></svg>
  </div>`;
}
