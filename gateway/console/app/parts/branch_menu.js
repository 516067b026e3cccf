// The branches of a session: to look at another, to begin one here, to delete one.
import { useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { plural } from "../lib/format.js";
import { useAction } from "../lib/hooks.js";
import { createBranch, deleteBranch } from "../api/floors.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icons.js";
import { Menu } from "./menu.js";
import { Notice } from "./notice.js";

export function BranchMenu({ sessionId, branch, branches, session, onChoose, refresh }) {
  const [naming, setNaming] = useState(false);
  const own = branches.find((one) => one.name === branch);
  const [remove, , error, clear] = useAction(async () => {
    await deleteBranch(sessionId, branch);
    onChoose("main");
    await refresh();
  });
  const items = [
    ...branches.map((one) => ({
      label: `${one.name} · ${plural(one.depth, "turn")}`,
      current: one.name === branch,
      run: () => onChoose(one.name),
    })),
    session && own && { label: "New branch here…", icon: "plus", run: () => setNaming(true) },
    branch !== "main" && { label: `Delete ${branch}`, icon: "close", danger: true, run: remove },
  ];
  const button = html`<${Icon} name="branch" /><span>${branch}</span><${Icon} name="down" />`;
  return html`<${Menu} label=${`Branch: ${branch}`} button=${button} items=${items} class="branches" />
    ${error && html`<${Notice} error=${error} onClose=${clear} />`}
    ${naming &&
    html`<${NewBranch} sessionId=${sessionId} floorId=${own.headFloorId} onDone=${onChoose} onClose=${() => setNaming(false)} />`}`;
}

export function NewBranch({ sessionId, floorId, onDone, onClose }) {
  const [name, setName] = useState("");
  const [create, busy, error, clear] = useAction(async () => {
    await createBranch(sessionId, name, floorId);
    onClose();
    onDone(name);
  });
  const submit = (event) => {
    event.preventDefault();
    void create();
  };
  return html`<${Dialog} title="New branch" onClose=${onClose}>
    <form class="stack" onSubmit=${submit}>
      <p>A second name for this place. It goes its own way from here; the other branch stays as it is.</p>
      <label class="field">
        <span>Name</span>
        <input required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" value=${name}
          title="Letters, digits, . _ - and first a letter or digit" autocomplete="off"
          onInput=${(event) => setName(event.target.value)} />
      </label>
      <${Notice} error=${error} onClose=${clear} />
      <div class="row end">
        <button type="button" onClick=${onClose}>Cancel</button>
        <button type="submit" class="primary" disabled=${busy}>Create</button>
      </div>
    </form>
  <//>`;
}
