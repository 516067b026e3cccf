// What the model was sent for a turn, or would be sent next; and the state that it was sent with.
import { useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { go } from "../lib/router.js";
import { useLoaded } from "../lib/hooks.js";
import { listPath } from "../api/floors.js";
import { assembleContext, explainFloor } from "../api/contexts.js";
import { clip } from "../lib/format.js";
import { floorLine } from "../lib/messages.js";
import { Loaded } from "../parts/notice.js";
import { Messages } from "./messages.js";
import { Tax } from "./tax.js";
import { Compare } from "./compare.js";
import { StatePanel } from "./state.js";

const NEXT = "";

export function ContextView({ sessionId, branch, query }) {
  const floor = query.get("floor") ?? NEXT;
  const against = query.get("with") ?? "";
  const path = useLoaded(() => listPath(sessionId, { branch, order: "PATH_ORDER_HEAD_FIRST", pageSize: 200 }), [sessionId, branch]);
  const choose = (part) => go(["s", sessionId, "context"], { branch: branch === "main" ? "" : branch, floor, with: against, ...part });
  const choices = turnChoices(path.value?.floors ?? [], floor);
  return html`<div class="page context-view">
    <div class="row wrap filters">
      <label class="inline-field grow-field">
        <span>Show</span>
        <select value=${floor} onChange=${(event) => choose({ floor: event.target.value, with: "" })}>
          <option value="">What would be sent next</option>
          ${choices.map(([id, label]) => html`<option value=${id}>${label}</option>`)}
        </select>
      </label>
      ${floor &&
      html`<label class="inline-field grow-field">
        <span>Compare with</span>
        <select value=${against} onChange=${(event) => choose({ with: event.target.value })}>
          <option value="">nothing</option>
          ${turnChoices(path.value?.floors ?? [], against).filter(([id]) => id !== floor).map(([id, label]) => html`<option value=${id}>${label}</option>`)}
        </select>
      </label>`}
    </div>
    ${against
      ? html`<${Compare} key=${`${floor}${against}`} left=${against} right=${floor} />`
      : html`<div class="context-columns">
          <${Sent} key=${`c${floor}`} sessionId=${sessionId} branch=${branch} floor=${floor} />
          <${StatePanel} key=${`s${floor}`} sessionId=${sessionId} branch=${branch} floorId=${floor} />
        </div>`}
  </div>`;
}

function turnChoices(floors, chosen) {
  const known = floors.map((one) => [one.floorId, `Turn ${one.depth}: ${clip(floorLine(one), 50)}`]);
  // One off this path, as the tree may name it.
  return !chosen || known.some(([id]) => id === chosen) ? known : [[chosen, "The chosen turn"], ...known];
}

function Sent({ sessionId, branch, floor }) {
  const [text, setText] = useState("");
  const [asked, setAsked] = useState("");
  const loaded = useLoaded(
    () => (floor ? explainFloor(floor) : assembleContext(sessionId, nextBody(branch, asked))),
    [sessionId, branch, floor, asked],
  );
  const ask = (event) => {
    event.preventDefault();
    setAsked(text);
  };
  return html`<section aria-label="Context">
    ${!floor &&
    html`<form class="row ask" onSubmit=${ask}>
      <label class="grow-field inline-field">
        <span class="visually-hidden">With a message</span>
        <input placeholder="… with this message" value=${text} onInput=${(event) => setText(event.target.value)} />
      </label>
      <button type="submit">Assemble</button>
    </form>`}
    <${Loaded} of=${loaded}>
      ${(found) => html`
        <h2>${heading(floor, found)}</h2>
        <${Tax} explanation=${found.explanation} />
        <${Messages} messages=${found.messages} explanation=${found.explanation} />
      `}
    <//>
  </section>`;
}

function nextBody(branch, text) {
  const messages = [{ role: "ROLE_USER", parts: [{ text: { text } }] }];
  return { branch, ...(text.trim() ? { input: { messages } } : {}) };
}

function heading(floor, found) {
  if (!floor) return "What would be sent next";
  return found.recorded ? "Exactly what was sent" : "What this turn stands on";
}
