// Messages and their parts. Everything here came from somebody else: it is shown as text.
import { html } from "../lib/html.js";
import { enumWord, prettyJson } from "../lib/format.js";
import { safeHref } from "../lib/inline.js";
import { Markdown } from "../parts/markdown.js";

const SHOWN_IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export function PageBody({ page }) {
  return page.messages.map((message) => html`<${Message} key=${message.messageId} message=${message} />`);
}

export function Message({ message }) {
  const role = enumWord(message.role, "ROLE_");
  const plain = role === "user" || role === "assistant";
  return html`<div class=${`message ${role} ${message.hidden ? "hidden-message" : ""}`}>
    <p class=${plain && !message.name && !message.hidden ? "visually-hidden" : "who"}>
      ${message.name ? `${message.name} (${role})` : NAMES[role] ?? role}${message.hidden ? " · hidden from the model" : ""}
    </p>
    ${message.parts.map((part) => html`<${Part} part=${part} />`)}
  </div>`;
}

const NAMES = { user: "You", assistant: "Assistant", tool: "Tool", system: "System" };

export function Part({ part }) {
  if (part.text) return html`<${Markdown} text=${part.text.text} />`;
  if (part.reasoning) return html`<${Reasoning} text=${part.reasoning.text} />`;
  if (part.toolCall) return html`<${ToolCall} call=${part.toolCall} />`;
  if (part.toolResult) return html`<${ToolResult} result=${part.toolResult} />`;
  if (part.file) return html`<${File} file=${part.file} />`;
  return html`<p class="quiet">A part that this console does not know.</p>`;
}

export function Reasoning({ text, open = false }) {
  return html`<details class="fold reasoning" open=${open}>
    <summary>Reasoning</summary>
    <div class="plain">${text}</div>
  </details>`;
}

export function ToolCall({ call, result }) {
  const state = result ? (result.isError ? "failed" : "done") : "";
  return html`<details class="fold tool">
    <summary>Tool call <code>${call.name}</code> ${state && html`<span class="badge">${state}</span>`}</summary>
    <pre tabindex="0">${prettyJson(call.argumentsJson || "{}")}</pre>
    ${result && html`<p class="who">Result</p><pre tabindex="0">${prettyJson(result.content)}</pre>`}
  </details>`;
}

export function ToolResult({ result }) {
  return html`<details class="fold tool">
    <summary>Tool result ${result.isError && html`<span class="badge warn">error</span>`}</summary>
    <pre tabindex="0">${prettyJson(result.content)}</pre>
  </details>`;
}

function File({ file }) {
  const name = file.name || file.mediaType || "file";
  if (file.data && SHOWN_IMAGES.includes(file.mediaType)) {
    return html`<img class="picture" src=${`data:${file.mediaType};base64,${file.data}`} alt=${name} />`;
  }
  const href = file.uri && safeHref(file.uri);
  return html`<p class="file">
    ${href ? html`<a href=${href} target="_blank" rel="noopener noreferrer nofollow">${name}</a>` : name}
    <span class="quiet"> ${file.mediaType}</span>
  </p>`;
}

/** A page that is still written: what is whole, then what came behind it. */
export function LivePage({ page }) {
  return html`${page.whole && html`<${PageBody} page=${page.whole} />`}
    ${page.segments.length > 0 &&
    html`<div class="message assistant">
      ${page.segments.map((segment) => {
        if (segment.kind === "text") return html`<${Markdown} text=${segment.text} />`;
        if (segment.kind === "reasoning") return html`<${Reasoning} text=${segment.text} open=${page.segments.length === 1} />`;
        return html`<${ToolCall} call=${segment} result=${segment.result} />`;
      })}
    </div>`}`;
}
