// The inline half of Markdown: code, bold, italics, strikes, links. Everything else is text.
import { h } from "preact";

const TOKEN =
  /(`+)([\s\S]*?[^`])\1(?!`)|(!?)\[([^[\]]*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)|\*\*(?=\S)([\s\S]*?\S)\*\*|(?<![\w*])\*(?=[^\s*])([\s\S]*?[^\s*])\*(?![\w*])|(?<!\w)__(?=\S)([\s\S]*?\S)__(?!\w)|(?<!\w)_(?=\S)([\s\S]*?\S)_(?!\w)|~~(?=\S)([\s\S]*?\S)~~|\bhttps?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]]/g;
const DEEPEST = 6;

/** A link's address when it is one of the web; "" for every other scheme, relative ones included. */
export function safeHref(address) {
  if (!/^https?:\/\//i.test(address)) return "";
  try {
    const url = new URL(address);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : "";
  } catch {
    return "";
  }
}

export function link(address, children) {
  const href = safeHref(address);
  return href ? h("a", { href, target: "_blank", rel: "noopener noreferrer nofollow" }, children) : children;
}

/** Inline Markdown as nodes. */
export function inline(text, depth = 0) {
  if (depth > DEEPEST) return [text];
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > at) nodes.push(text.slice(at, match.index));
    nodes.push(node(match, depth + 1));
    at = match.index + match[0].length;
  }
  if (at < text.length) nodes.push(text.slice(at));
  return nodes;
}

function node(match, depth) {
  const [whole, , code, image, label, address, bold, italic, bold2, italic2, struck] = match;
  if (code !== undefined) return h("code", null, code.replace(/^ (.+) $/, "$1"));
  // A picture elsewhere would tell its server who reads this: it is shown as a link.
  if (label !== undefined && image) return link(address, [`Picture: ${label || address}`]);
  if (label !== undefined) return link(address, inline(label || address, depth));
  const strong = bold ?? bold2;
  if (strong !== undefined) return h("strong", null, inline(strong, depth));
  const emphasis = italic ?? italic2;
  if (emphasis !== undefined) return h("em", null, inline(emphasis, depth));
  if (struck !== undefined) return h("del", null, inline(struck, depth));
  return link(whole, [whole]);
}
