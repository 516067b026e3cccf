// Markdown as DOM nodes: a subset, and inert. What it does not know stays text; no markup is ever parsed.
import { h } from "preact";
import { inline } from "./inline.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const DIVIDER = /^ *\|?(?: *:?-+:? *\|)+ *(?::?-+:? *)?$/;
const DEEPEST = 8;
// Longer texts are shown as they are: reading them must not stop the page.
const LONGEST = 200_000;

/** Nodes for a text, which may break off anywhere: it may still be written. */
export function markdown(text) {
  if (text.length > LONGEST) return [h("pre", { class: "plain" }, text)];
  return blocks(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

function blocks(lines, depth) {
  if (depth > DEEPEST) return [h("p", null, lines.join("\n"))];
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    const [node, next] = block(lines, at, depth);
    if (node) nodes.push(node);
    at = next;
  }
  return nodes;
}

/** The block that begins at a line, and the line after it. */
function block(lines, at, depth) {
  const line = lines[at];
  if (!line.trim()) return [null, at + 1];
  const fence = FENCE.exec(line);
  if (fence) return code(lines, at, fence);
  const heading = HEADING.exec(line);
  // One level lower than written: the page has a heading of its own.
  if (heading) return [h(`h${Math.min(6, heading[1].length + 2)}`, null, inline(heading[2])), at + 1];
  if (RULE.test(line)) return [h("hr"), at + 1];
  if (QUOTE.test(line)) return quote(lines, at, depth);
  if (ITEM.test(line)) return list(lines, at, depth);
  if (line.includes("|") && DIVIDER.test(lines[at + 1] ?? "")) return table(lines, at);
  return paragraph(lines, at);
}

function code(lines, at, [, mark, language]) {
  let end = at + 1;
  const close = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}\\s*$`);
  while (end < lines.length && !close.test(lines[end])) end += 1;
  const text = lines.slice(at + 1, end).join("\n");
  const label = language ? h("figcaption", null, language) : null;
  return [h("figure", { class: "code" }, label, h("pre", { tabIndex: 0 }, h("code", null, text))), end + 1];
}

function quote(lines, at, depth) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return [h("blockquote", null, blocks(inner, depth + 1)), end];
}

function list(lines, at, depth) {
  const [, indent, bullet] = ITEM.exec(lines[at]);
  const ordered = /\d/.test(bullet);
  const items = [];
  let end = at;
  for (; end < lines.length; end += 1) {
    const item = ITEM.exec(lines[end]);
    const own = item && item[1].length <= indent.length + 1;
    if (own && /\d/.test(item[2]) !== ordered) break;
    if (own && RULE.test(lines[end])) break;
    if (own) items.push([item[3]]);
    else if (/^\s{2,}/.test(lines[end])) items.at(-1).push(lines[end].replace(/^ {1,4}/, ""));
    else if (!lines[end].trim() && continues(lines[end + 1], indent)) items.at(-1).push("");
    else break;
  }
  const children = items.map((item) => h("li", null, tight(blocks(item, depth + 1))));
  const start = ordered && parseInt(bullet, 10) !== 1 ? { start: parseInt(bullet, 10) } : null;
  return [h(ordered ? "ol" : "ul", start, children), end];
}

function continues(line, indent) {
  return line !== undefined && (/^\s{2,}\S/.test(line) || (ITEM.test(line) && !indent));
}

/** An item of one paragraph needs none. */
function tight(nodes) {
  return nodes.length && nodes[0].type === "p" ? [nodes[0].props.children, ...nodes.slice(1)] : nodes;
}

function table(lines, at) {
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end += 1;
  const head = h("thead", null, h("tr", null, cells(lines[at]).map((one) => h("th", { scope: "col" }, inline(one)))));
  const rows = lines.slice(at + 2, end).map((line) => h("tr", null, cells(line).map((one) => h("td", null, inline(one)))));
  return [h("div", { class: "table", tabIndex: 0 }, h("table", null, head, h("tbody", null, rows))), end];
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split("|").map((one) => one.trim());
}

function paragraph(lines, at) {
  let end = at + 1;
  const stops = (line) =>
    !line.trim() || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);
  while (end < lines.length && !stops(lines[end])) end += 1;
  const children = [];
  for (const line of lines.slice(at, end)) {
    if (children.length) children.push(h("br"));
    children.push(...inline(line));
  }
  return [h("p", null, children), end];
}
