// All conversations: find one, begin one, bring some in.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { useTitle } from "../lib/hooks.js";
import { Icon } from "../parts/icons.js";
import { NewSession } from "./create.js";
import { ImportDialog } from "./import.js";
import { SessionList } from "./list.js";
import { SearchResults } from "./search.js";

export function SessionsPage() {
  const [query, setQuery] = useState("");
  const [state, setState] = useState("SESSION_STATE_ACTIVE");
  const [creating, setCreating] = useState(false);
  const [importing, setImporting] = useState(null);
  const over = useDrop((files) => setImporting(files));
  const picker = useRef(null);
  useTitle("Conversations");
  const archived = state === "SESSION_STATE_ARCHIVED";
  return html`<div class="page">
    <header class="page-head">
      <h1>Conversations</h1>
      <div class="row">
        <button type="button" onClick=${() => picker.current.click()}><${Icon} name="upload" />Import</button>
        <button type="button" class="primary" onClick=${() => setCreating(true)}><${Icon} name="plus" />New</button>
      </div>
    </header>
    <input ref=${picker} type="file" multiple hidden aria-label="Files to import" class="file-picker"
      onChange=${(event) => (setImporting([...event.target.files]), (event.target.value = ""))} />
    <div class="row filters">
      <label class="search-field">
        <${Icon} name="search" /><span class="visually-hidden">Search titles and messages</span>
        <input type="search" placeholder="Search" value=${query} onInput=${(event) => setQuery(event.target.value)} />
      </label>
      <label class="inline-field">
        <span class="visually-hidden">Show</span>
        <select value=${state} onChange=${(event) => setState(event.target.value)}>
          <option value="SESSION_STATE_ACTIVE">Active</option>
          <option value="SESSION_STATE_ARCHIVED">Archived</option>
        </select>
      </label>
    </div>
    ${query.trim().length > 1 && html`<${SearchResults} query=${query.trim()} />`}
    <${SessionList} key=${state} state=${state} filter=${query.trim()} archived=${archived} onNew=${() => setCreating(true)} />
    ${creating && html`<${NewSession} onClose=${() => setCreating(false)} />`}
    ${importing && html`<${ImportDialog} files=${importing} onClose=${() => setImporting(null)} />`}
    ${over && html`<div class="drop" aria-hidden="true"><p>Drop files to import them</p></div>`}
  </div>`;
}

/** Files dropped anywhere on the page; whether some are held over it now. */
function useDrop(onFiles) {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
    const onOver = (event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event) => event.relatedTarget || setOver(false);
    const onDrop = (event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      setOver(false);
      onFiles([...event.dataTransfer.files]);
    };
    const all = [["dragover", onOver], ["dragleave", onLeave], ["drop", onDrop]];
    for (const [name, listener] of all) document.addEventListener(name, listener);
    return () => all.forEach(([name, listener]) => document.removeEventListener(name, listener));
  }, []);
  return over;
}
