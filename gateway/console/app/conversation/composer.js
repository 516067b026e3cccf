// Where one writes. Enter sends, Shift+Enter makes a line. What is typed survives a reload of the tab.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { Icon } from "../parts/icons.js";
import { fit } from "./fit.js";

export function Composer({ conversation, state }) {
  const kept = `stemma.text.${conversation.source.id}`;
  const [text, setText] = useState(() => sessionStorage.getItem(kept) ?? "");
  const [count, setCount] = useState(1);
  const field = useRef(null);
  useEffect(() => fit(field.current), [text]);
  useEffect(() => {
    if (text) sessionStorage.setItem(kept, text);
    else sessionStorage.removeItem(kept);
  }, [text, kept]);
  const { run, pending, busy } = state;
  const running = Boolean(run && !run.end);
  // Not while a run ends: a field that is disabled for a moment loses the focus.
  const blocked = Boolean(pending && !run);
  const send = async () => {
    if (!text.trim() || busy || pending) return;
    setText("");
    setCount(1);
    // Refused before it began: the text comes back.
    if (!(await conversation.send(text, count)) && !conversation.store.get().failed) setText((now) => now || text);
  };
  const onKeyDown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send();
  };
  return html`<form class="composer" onSubmit=${(event) => (event.preventDefault(), void send())}>
    <textarea
      ref=${field}
      rows="1"
      aria-label="Message"
      placeholder=${blocked ? "Choose or discard the candidates first" : "Message"}
      value=${text}
      disabled=${blocked}
      onInput=${(event) => setText(event.target.value)}
      onKeyDown=${onKeyDown}
    ></textarea>
    <div class="composer-row">
      <label class="inline-field">
        <span>Answers</span>
        <select value=${count} onChange=${(event) => setCount(Number(event.target.value))}>
          ${[1, 2, 3, 4].map((one) => html`<option value=${one}>${one}</option>`)}
        </select>
      </label>
      <span class="fine grow hint">Enter sends · Shift+Enter makes a line</span>
      ${running
        ? html`<button type="button" class="round stop" aria-label="Stop" title="Stop" onClick=${conversation.stop}><${Icon} name="stop" /></button>`
        : html`<button type="submit" class="round primary" aria-label="Send" title="Send" disabled=${!text.trim() || blocked || busy}>
            <${Icon} name="send" />
          </button>`}
    </div>
  </form>`;
}
