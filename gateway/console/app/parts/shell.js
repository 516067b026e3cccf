// The frame around every view: navigation at the side, or behind a button where there is no room.
import { useEffect, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { LiveRegion } from "../lib/announce.js";
import { to } from "../lib/router.js";
import { useStore } from "../lib/store.js";
import { nextTheme, theme } from "../lib/theme.js";
import { apiKey } from "../api/key.js";
import { Icon, IconButton } from "./icons.js";
import { RecentSessions } from "../sessions/recent.js";

const PLACES = [
  { parts: [], own: ["", "s"], label: "Conversations", icon: "chat" },
  { parts: ["drafts"], own: ["drafts", "d"], label: "Drafts", icon: "draft" },
  { parts: ["ledger"], own: ["ledger"], label: "Ledger", icon: "ledger" },
  { parts: ["feed"], own: ["feed"], label: "Feed", icon: "feed" },
  { parts: ["system"], own: ["system"], label: "System", icon: "system" },
];
const ICON = new URL("../../icon.svg", import.meta.url).href;
const THEMES = { system: ["auto", "as the system"], light: ["sun", "light"], dark: ["moon", "dark"] };

export function Shell({ parts, children }) {
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [parts.join("/")]);
  useEffect(() => {
    const onKey = (event) => event.key === "Escape" && setOpen(false);
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const skip = (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  };
  return html`<div class=${`shell ${open ? "nav-open" : ""}`}>
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <${LiveRegion} />
    <div class="phone-bar">
      <${IconButton} icon="menu" label="Navigation" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)} />
      <span class="brand">Stemma</span>
    </div>
    <nav class="nav" aria-label="Main">
      <a class="brand" href=${to([])}><img src=${ICON} alt="" width="24" height="24" />Stemma</a>
      <ul class="places">
        ${PLACES.map(
          (one) => html`<li>
            <a href=${to(one.parts)} aria-current=${one.own.includes(parts[0] ?? "") ? "page" : undefined}>
              <${Icon} name=${one.icon} />${one.label}
            </a>
          </li>`,
        )}
      </ul>
      <${RecentSessions} current=${parts[0] === "s" ? parts[1] : ""} />
      <${Foot} />
    </nav>
    ${open && html`<button type="button" class="scrim" aria-label="Close the navigation" onClick=${() => setOpen(false)}></button>`}
    <main id="main" tabindex="-1">${children}</main>
  </div>`;
}

function Foot() {
  const [icon, word] = THEMES[useStore(theme)];
  const key = useStore(apiKey);
  return html`<div class="nav-foot">
    <button type="button" class="quiet-button" onClick=${nextTheme} aria-label=${`Colours: ${word}. Change`} title=${`Colours: ${word}`}>
      <${Icon} name=${icon} /><span>${word}</span>
    </button>
    <a class="quiet-button" href=${to(["key"])}><${Icon} name="key" /><span>${key ? "Key set" : "API key"}</span></a>
  </div>`;
}
