// The API key of this tab. A call that was refused for want of one leads here.
import { useRef } from "preact/hooks";
import { html } from "../lib/html.js";
import { useStore } from "../lib/store.js";
import { useTitle } from "../lib/hooks.js";
import { announce } from "../lib/announce.js";
import { apiKey, useKey } from "../api/key.js";

const NONE = "This server wants to know who you are. Enter a valid key to go on.";
const WRONG = "This server does not take this key, or no longer. Enter another to go on.";

export function KeyPage({ wanted = false }) {
  const field = useRef(null);
  const key = useStore(apiKey);
  useTitle("API key");
  const save = (event) => {
    event.preventDefault();
    useKey(field.current.value.trim());
    announce("The key is used from now on.");
    if (!wanted) history.back();
  };
  const signOut = () => {
    useKey("");
    field.current.value = "";
    announce("You are signed out.");
  };
  return html`<div class="page narrow">
    <h1>API key</h1>
    ${wanted && html`<p role="alert">${key ? WRONG : NONE}</p>`}
    <p class="quiet">It is kept in this tab until you close it, and sent to this server alone.</p>
    <form class="stack" onSubmit=${save}>
      <label class="field">
        <span>Key</span>
        <input ref=${field} type="password" autocomplete="off" spellcheck="false" required value=${key} />
      </label>
      <div class="row end">
        ${key && html`<button type="button" onClick=${signOut}>Sign out</button>`}
        <button type="submit" class="primary">Use this key</button>
      </div>
    </form>
  </div>`;
}
