// A new conversation: a title, and for who wants it, what the model is told.
import { useRef } from "preact/hooks";
import { html } from "../lib/html.js";
import { go } from "../lib/router.js";
import { useAction } from "../lib/hooks.js";
import { createSession } from "../api/sessions.js";
import { Dialog } from "../parts/dialog.js";
import { Notice } from "../parts/notice.js";
import { changed } from "./recent.js";

export function NewSession({ onClose }) {
  const title = useRef(null);
  const prompt = useRef(null);
  const budget = useRef(null);
  const [create, busy, error, clear] = useAction(async () => {
    const config = {};
    if (prompt.current.value.trim()) config.systemPrompt = prompt.current.value;
    if (budget.current.value) config.budget = { maxInputTokens: Number(budget.current.value) };
    const session = await createSession({ title: title.current.value.trim(), config });
    changed();
    onClose();
    go(["s", session.sessionId, "chat"]);
  });
  const submit = (event) => {
    event.preventDefault();
    void create();
  };
  return html`<${Dialog} title="New conversation" onClose=${onClose}>
    <form class="stack" onSubmit=${submit}>
      <label class="field"><span>Title</span><input ref=${title} maxlength="200" autocomplete="off" autofocus /></label>
      <details class="fold">
        <summary>Configuration</summary>
        <div class="stack">
          <label class="field"><span>System prompt</span><textarea ref=${prompt} rows="4"></textarea></label>
          <label class="field"><span>Most tokens to send</span><input ref=${budget} type="number" min="1" inputmode="numeric" /></label>
        </div>
      </details>
      <${Notice} error=${error} onClose=${clear} />
      <div class="row end">
        <button type="button" onClick=${onClose}>Cancel</button>
        <button type="submit" class="primary" disabled=${busy}>Create</button>
      </div>
    </form>
  <//>`;
}
