// Icons, drawn here: strokes in the colour of the text around them. Always beside a label, so never read aloud.
import { html } from "../lib/html.js";

const PATHS = {
  plus: "M12 5v14M5 12h14",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M8 8h8v8H8z",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  retry: "M4 12a8 8 0 0 1 14-5l2 2M20 4v5h-5M20 12a8 8 0 0 1-14 5l-2-2M4 20v-5h5",
  left: "M14 6l-6 6 6 6",
  right: "M10 6l6 6-6 6",
  down: "M6 9l6 6 6-6",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  branch: "M7 4v10M7 14a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM17 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM17 10c0 4-6 3-9 5",
  undo: "M8 5L4 9l4 4M4 9h10a6 6 0 0 1 0 12h-3",
  chat: "M4 5h16v11H10l-5 4v-4H4z",
  tree: "M12 4v5M12 12c0 4-6 2-6 7M12 12c0 4 6 2 6 7M12 9v3",
  layers: "M12 4l8 4-8 4-8-4zM4 12l8 4 8-4M4 16l8 4 8-4",
  draft: "M6 3h8l4 4v14H6zM14 3v4h4M9 13h6M9 17h4",
  ledger: "M5 4h14v16H5zM9 8h6M9 12h6M9 16h3",
  feed: "M5 12a7 7 0 0 1 7 7M5 5a14 14 0 0 1 14 14M6 18h.01",
  system: "M4 17l4-6 4 3 4-8 4 5",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1 1M18 18l1 1M19 5l-1 1M6 18l-1 1",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z",
  auto: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 4v16",
  key: "M9 10a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 12l8-8M17 7l2 2M15 9l2 2",
  upload: "M12 16V5M7 10l5-5 5 5M4 19h16",
  download: "M12 4v11M7 10l5 5 5-5M4 19h16",
  check: "M5 12l5 5 9-10",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
};

export function Icon({ name }) {
  return html`<svg class=${`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${PATHS[name]} /></svg>`;
}

/** A button that shows an icon, and its label to whoever cannot see it or rests on it. */
export function IconButton({ icon, label, class: extra = "", ...rest }) {
  return html`<button type="button" class=${`icon-button ${extra}`} aria-label=${label} title=${label} ...${rest}>
    <${Icon} name=${icon} />
  </button>`;
}
