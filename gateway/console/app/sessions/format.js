// Which format a file is probably in, by its beginning. The person can say otherwise.
const LOOKED_AT = 64 * 1024;

export async function guessFormat(file) {
  const text = await file.slice(0, LOOKED_AT).text();
  if (/"stemma"|"format"\s*:\s*"stemma/.test(text.slice(0, 400))) return "stemma";
  if (/"mapping"\s*:/.test(text)) return "chatgpt";
  if (/"message_tree_id"|"message_id"|"prompt"\s*:\s*\{/.test(text)) return "oasst";
  if (/^\s*\{.*"(role|edits|regenerates|rollback_to)"\s*:/m.test(text)) return "log-jsonl";
  // What is packed cannot be looked into here; most of that is ChatGPT's.
  return /\.zip$/i.test(file.name) ? "chatgpt" : "stemma";
}
