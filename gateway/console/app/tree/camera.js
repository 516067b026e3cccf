// Where one looks at the drawing, and how near: pan by dragging or wheel, zoom by pinch, Ctrl+wheel or keys.
import { useEffect, useRef, useState } from "preact/hooks";

const NEAREST = 2;
const FARTHEST = 0.08;
const STILL = 4;

const clamp = (scale) => Math.min(NEAREST, Math.max(FARTHEST, scale));

/** [camera {x, y, k, width, height}, controls]. A point p of the drawing is shown at p * k + (x, y). */
export function useCamera(frame) {
  const [camera, setCamera] = useState({ x: 0, y: 0, k: 1, width: 0, height: 0 });
  const next = useRef(null);
  // One change for each frame, whatever the number of events: none is dropped, none is drawn in vain.
  const change = useRef((step) => {
    const waiting = next.current;
    next.current = waiting ? (last) => step(waiting(last)) : step;
    if (waiting) return;
    requestAnimationFrame(() => {
      const apply = next.current;
      next.current = null;
      setCamera(apply);
    });
  }).current;
  const controls = useRef({
    panBy: (dx, dy) => change((last) => ({ ...last, x: last.x + dx, y: last.y + dy })),
    zoomAt: (factor, px, py) => change((last) => zoomed(last, factor, px ?? last.width / 2, py ?? last.height / 2)),
    centre: (x, y, k) =>
      change((last) => ({ ...last, k: k ?? last.k, x: last.width / 2 - x * (k ?? last.k), y: last.height / 2 - y * (k ?? last.k) })),
    fit: (bounds) => change((last) => fitted(last, bounds)),
  }).current;
  useSize(frame, change);
  usePointers(frame, controls);
  return [camera, controls];
}

function zoomed(last, factor, px, py) {
  const k = clamp(last.k * factor);
  const ratio = k / last.k;
  return { ...last, k, x: px - (px - last.x) * ratio, y: py - (py - last.y) * ratio };
}

function fitted(last, { left, right, top, bottom }) {
  const k = clamp(Math.min(1, (last.width - 48) / (right - left), (last.height - 48) / (bottom - top)));
  return { ...last, k, x: last.width / 2 - ((left + right) / 2) * k, y: last.height / 2 - ((top + bottom) / 2) * k };
}

function useSize(frame, change) {
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry.contentRect;
      change((last) => ({ ...last, width, height, x: last.width ? last.x + (width - last.width) / 2 : width / 2 }));
    });
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
}

function usePointers(frame, controls) {
  useEffect(() => {
    const element = frame.current;
    const down = new Map();
    let moved = 0;
    const place = (event) => ({ x: event.clientX, y: event.clientY });
    const onDown = (event) => {
      down.set(event.pointerId, place(event));
      moved = 0;
    };
    const onMove = (event) => {
      const last = down.get(event.pointerId);
      if (!last) return;
      const now = place(event);
      moved += Math.abs(now.x - last.x) + Math.abs(now.y - last.y);
      if (moved > STILL && !element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
      if (down.size === 1) controls.panBy(now.x - last.x, now.y - last.y);
      else pinch(element, controls, down, event.pointerId, now);
      down.set(event.pointerId, now);
    };
    const onUp = (event) => down.delete(event.pointerId);
    const onWheel = (event) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) {
        controls.zoomAt(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
      } else controls.panBy(-event.deltaX, -event.deltaY);
    };
    // A drag that ends on a card is no click on it.
    const onClick = (event) => moved > STILL && event.stopPropagation();
    const all = [["pointerdown", onDown], ["pointermove", onMove], ["pointerup", onUp], ["pointercancel", onUp]];
    for (const [name, listener] of all) element.addEventListener(name, listener);
    element.addEventListener("wheel", onWheel, { passive: false });
    element.addEventListener("click", onClick, { capture: true });
    return () => {
      for (const [name, listener] of all) element.removeEventListener(name, listener);
      element.removeEventListener("wheel", onWheel);
      element.removeEventListener("click", onClick, { capture: true });
    };
  }, []);
}

function pinch(element, controls, down, id, now) {
  const other = [...down].find(([one]) => one !== id)?.[1];
  const last = down.get(id);
  const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
  const box = element.getBoundingClientRect();
  const factor = distance(now, other) / Math.max(1, distance(last, other));
  controls.zoomAt(factor, (now.x + other.x) / 2 - box.left, (now.y + other.y) / 2 - box.top);
}
