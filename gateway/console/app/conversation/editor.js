// A text in place: Enter saves, Escape leaves it as it was.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../lib/html.js";
import { fit } from "./fit.js";

export function Editor({ label, text, action, busy, onSave, onCancel }) {
  const [value, setValue] = useState(text);
  const field = useRef(null);
  useEffect(() => {
    fit(field.current);
    field.current.focus();
    field.current.setSelectionRange(text.length, text.length);
  }, []);
  const save = () => {
    if (value.trim() && !busy) onSave(value);
  };
  const onKeyDown = (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      onCancel();
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      save();
    }
  };
  const onInput = (event) => {
    setValue(event.target.value);
    fit(event.target);
  };
  return html`<div class="editor">
    <textarea ref=${field} aria-label=${label} rows="1" value=${value} onInput=${onInput} onKeyDown=${onKeyDown}></textarea>
    <div class="row end">
      <button type="button" class="small" onClick=${onCancel}>Cancel</button>
      <button type="button" class="small primary" disabled=${busy || !value.trim()} onClick=${save}>${action}</button>
    </div>
  </div>`;
}
