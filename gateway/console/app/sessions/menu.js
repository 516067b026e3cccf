// What can be done with a conversation as a whole.
import { useRef, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { go, place } from "../lib/router.js";
import { useAction } from "../lib/hooks.js";
import { announce } from "../lib/announce.js";
import { archiveSession, deleteSession, exportSession, renameSession, restoreSession } from "../api/sessions.js";
import { Confirm, Dialog } from "../parts/dialog.js";
import { Menu } from "../parts/menu.js";
import { Notice } from "../parts/notice.js";
import { changed } from "./recent.js";

const FORMATS = [
  ["stemma", "Stemma: everything, branches and state"],
  ["chatgpt", "ChatGPT"],
  ["oasst", "Open Assistant tree"],
  ["log-jsonl", "Plain log"],
];

export function SessionMenu({ session, onChanged }) {
  const [asking, setAsking] = useState("");
  const [run, busy, error, clear] = useAction(async (action) => {
    await action();
    setAsking("");
    changed();
    await onChanged?.();
  });
  const close = () => (clear(), setAsking(""));
  const archived = session.state === "SESSION_STATE_ARCHIVED";
  const id = session.sessionId;
  const items = [
    !archived && { label: "Rename…", icon: "edit", run: () => setAsking("rename") },
    { label: "Export…", icon: "download", run: () => setAsking("export") },
    archived
      ? { label: "Restore", icon: "undo", run: () => run(() => restoreSession(id)) }
      : { label: "Archive", icon: "layers", run: () => run(() => archiveSession(id)) },
    { label: "Delete…", icon: "close", danger: true, run: () => setAsking("delete") },
  ];
  const erase = async () => {
    await deleteSession(id);
    announce("Deleted");
    if (place.get().parts[1] === id) go([]);
  };
  const notice = html`<${Notice} error=${error} onClose=${clear} />`;
  return html`<${Menu} label=${`Menu of ${session.title || "Untitled"}`} items=${items} />
    ${!asking && error && html`<${Dialog} title="That did not work" onClose=${close}>${notice}<//>`}
    ${asking === "rename" && html`<${Rename} session=${session} run=${run} busy=${busy} notice=${notice} onClose=${close} />`}
    ${asking === "export" && html`<${Export} session=${session} run=${run} busy=${busy} notice=${notice} onClose=${close} />`}
    ${asking === "delete" &&
    html`<${Confirm} title="Delete this conversation?" danger=${true} label="Delete it" busy=${busy} error=${notice}
      text=${`“${session.title || "Untitled"}” goes with every branch, and what waits in the ledger for it. This cannot be undone.`}
      onConfirm=${() => run(erase)} onClose=${close} />`}`;
}

function Rename({ session, run, busy, notice, onClose }) {
  const field = useRef(null);
  const submit = (event) => {
    event.preventDefault();
    void run(() => renameSession(session, field.current.value.trim()));
  };
  return html`<${Dialog} title="Rename" onClose=${onClose}>
    <form class="stack" onSubmit=${submit}>
      <label class="field"><span>Title</span><input ref=${field} maxlength="200" autofocus value=${session.title} /></label>
      ${notice}
      <div class="row end"><button type="submit" class="primary" disabled=${busy}>Save</button></div>
    </form>
  <//>`;
}

function Export({ session, run, busy, notice, onClose }) {
  const [format, setFormat] = useState("stemma");
  const submit = (event) => {
    event.preventDefault();
    void run(() => exportSession(session.sessionId, format, session.title));
  };
  return html`<${Dialog} title="Export" onClose=${onClose}>
    <form class="stack" onSubmit=${submit}>
      <fieldset>
        <legend>Format</legend>
        ${FORMATS.map(
          ([value, label]) => html`<label class="choice">
            <input type="radio" name="format" value=${value} checked=${format === value} onChange=${() => setFormat(value)} />
            <span>${label}</span>
          </label>`,
        )}
      </fieldset>
      ${notice}
      <div class="row end"><button type="submit" class="primary" disabled=${busy}>Download</button></div>
    </form>
  <//>`;
}
