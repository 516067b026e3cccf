// Brings files in, one after the other, and reports what became of each conversation in them.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { number, plural } from "../lib/format.js";
import { to } from "../lib/router.js";
import { announce } from "../lib/announce.js";
import { newId } from "../api/http.js";
import { importFile } from "../api/sessions.js";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icons.js";
import { Notice } from "../parts/notice.js";
import { guessFormat } from "./format.js";
import { changed } from "./recent.js";

const FORMATS = ["stemma", "chatgpt", "oasst", "log-jsonl"];

export function ImportDialog({ files, onClose }) {
  const [formats, setFormats] = useState(null);
  const [started, setStarted] = useState(false);
  useEffect(() => {
    Promise.all(files.map(guessFormat)).then(setFormats);
  }, [files]);
  if (!formats) return html`<${Dialog} title="Import" onClose=${onClose}><p class="quiet">Looking at the files…</p><//>`;
  return html`<${Dialog} title="Import" wide=${true} onClose=${onClose}>
    ${files.map(
      (file, index) => html`<${FileImport}
        key=${index}
        file=${file}
        format=${formats[index]}
        onFormat=${(format) => setFormats(formats.with(index, format))}
        started=${started}
      />`,
    )}
    <div class="row end">
      ${started
        ? html`<button type="button" class="primary" onClick=${onClose}>Done</button>`
        : html`<button type="button" onClick=${onClose}>Cancel</button>
            <button type="button" class="primary" onClick=${() => setStarted(true)}>Import</button>`}
    </div>
  <//>`;
}

function FileImport({ file, format, onFormat, started }) {
  const [part, setPart] = useState(0);
  const [results, setResults] = useState(null);
  const [error, setError] = useState(null);
  const requestId = useRef(newId());
  const run = async (signal) => {
    setError(null);
    try {
      // The same id after a break: what is in already is not made again.
      const options = { format, requestId: requestId.current, onProgress: setPart, signal };
      const found = await importFile(file, options);
      setResults(found);
      announce(`${file.name}: ${plural(found.length, "conversation")}`);
      changed();
    } catch (failure) {
      if (!signal.aborted) setError(failure);
    }
  };
  useEffect(() => {
    if (!started) return undefined;
    const closing = new AbortController();
    void run(closing.signal);
    return () => closing.abort();
  }, [started]);
  const again = { label: "Go on where it was cut", run: () => run(new AbortController().signal) };
  return html`<section class="import-file" aria-label=${file.name}>
    <div class="row">
      <strong class="grow clip">${file.name}</strong>
      <label class="inline-field">
        <span>Format</span>
        <select value=${format} disabled=${started} onChange=${(event) => onFormat(event.target.value)}>
          ${FORMATS.map((one) => html`<option value=${one}>${one}</option>`)}
        </select>
      </label>
    </div>
    ${started && !results && !error && html`<${Progress} part=${part} />`}
    <${Notice} error=${error} actions=${[again]} />
    ${results && html`<${Report} results=${results} />`}
  </section>`;
}

function Progress({ part }) {
  const sent = part < 1;
  return html`<p class="fine" role="status">${sent ? `Sending, ${Math.round(part * 100)} %` : "Reading the conversations…"}</p>
    <progress max="1" value=${sent ? part : undefined} aria-label="Progress"></progress>`;
}

function Report({ results }) {
  return html`<ul class="report">
    ${results.map(
      (one) => html`<li key=${one.index}>
        <p class="row">
          <${Icon} name=${one.error ? "warning" : "check"} />
          ${one.sessionId ? html`<a href=${to(["s", one.sessionId, "chat"])}>${one.title || "Untitled"}</a>` : one.title || "Untitled"}
          <span class="fine">${one.error ? "" : `${plural(one.floors, "turn")}, ${plural(one.messages, "message")}`}</span>
        </p>
        ${one.error && html`<p class="error-text">${one.error.message}</p>`}
        ${one.warnings.map((warning) => html`<p class="fine">${warning}</p>`)}
        ${one.logTokens &&
        html`<p class="fine">
          As a log it would have sent ${number(one.logTokens.logSent)} tokens in ${plural(one.logTokens.calls, "call")}; as a tree
          ${" "}${number(one.logTokens.treeSent)}.
        </p>`}
      </li>`,
    )}
  </ul>`;
}
