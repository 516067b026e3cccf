// A menu button: opens below, arrows move, Escape closes and gives the focus back.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { Icon } from "./icons.js";

/** @param items [{label, icon, run, danger, current}], empty ones are left out. */
export function Menu({ label, button, items, class: extra = "", align = "end" }) {
  const [open, setOpen] = useState(false);
  const [up, setUp] = useState(false);
  const root = useRef(null);
  const trigger = useRef(null);
  useLayoutEffect(() => setUp(open && hasNoRoomBelow(root.current)), [open]);
  useEffect(() => {
    if (!open) return undefined;
    root.current.querySelector(".menu-list").scrollIntoView({ block: "nearest" });
    root.current.querySelector("[role^=menuitem]")?.focus();
    const outside = (event) => !root.current.contains(event.target) && setOpen(false);
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    trigger.current?.focus();
  };
  const onKeyDown = (event) => {
    if (!open) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") setOpen(false);
    else moveFocus(event, root.current);
  };
  const choose = (item) => () => {
    close();
    item.run();
  };
  return html`<div class=${`menu ${extra}`} ref=${root} onKeyDown=${onKeyDown}>
    <button
      type="button"
      ref=${trigger}
      class=${button ? "menu-button" : "icon-button"}
      aria-haspopup="menu"
      aria-expanded=${open ? "true" : "false"}
      aria-label=${label}
      title=${label}
      onClick=${() => setOpen(!open)}
    >
      ${button ?? html`<${Icon} name="more" />`}
    </button>
    ${open &&
    html`<div class=${`menu-list ${align} ${up ? "up" : ""}`} role="menu" aria-label=${label}>
      ${items.filter(Boolean).map(
        (item) => html`<button
          type="button"
          role=${item.current === undefined ? "menuitem" : "menuitemradio"}
          aria-checked=${item.current === undefined ? undefined : String(item.current)}
          tabindex="-1"
          class=${item.danger ? "danger-text" : ""}
          disabled=${item.disabled}
          onClick=${choose(item)}
        >
          <${Icon} name=${item.icon ?? (item.current ? "check" : "right")} />
          <span>${item.label}</span>
        </button>`,
      )}
    </div>`}
  </div>`;
}

/** Whether the list would be cut off where its surroundings end, and fits above. */
function hasNoRoomBelow(root) {
  const list = root.querySelector(".menu-list").getBoundingClientRect();
  const around = (root.closest(".transcript, .page") ?? document.documentElement).getBoundingClientRect();
  return list.bottom > around.bottom && root.getBoundingClientRect().top - list.height > around.top;
}

function moveFocus(event, root) {
  const items = [...root.querySelectorAll("[role^=menuitem]:not(:disabled)")];
  const at = items.indexOf(document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  items[(next + items.length) % items.length]?.focus();
}
