// A text of a model or a person, shown as Markdown. Rendered again only when the text is another.
import { useMemo } from "preact/hooks";
import { html } from "../lib/html.js";
import { markdown } from "../lib/markdown.js";

export function Markdown({ text }) {
  return html`<div class="markdown">${useMemo(() => markdown(text), [text])}</div>`;
}
