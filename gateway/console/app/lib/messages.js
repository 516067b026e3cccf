// Messages of the contract: making them and reading them.

export function userMessage(text) {
  return { role: "ROLE_USER", parts: [{ text: { text } }] };
}

export function assistantMessage(text) {
  return { role: "ROLE_ASSISTANT", parts: [{ text: { text } }] };
}

/** The text parts of a message, joined. */
export function textOf(message) {
  return (message?.parts ?? []).map((part) => part.text?.text ?? "").join("");
}

/** The text of a page's messages, by lines. */
export function pageText(page) {
  return (page?.messages ?? []).map(textOf).filter(Boolean).join("\n\n");
}

/** One line that says what a floor is about. */
export function floorLine(floor) {
  const text = pageText(floor.inputPage) || pageText(floor.outputPage);
  if (text) return text;
  if (floor.effects && hasEffects(floor.effects)) return "A change of state";
  return floor.depth === 0 ? "Beginning" : "Turn without text";
}

export function hasEffects(effects) {
  return Boolean(effects && (effects.variables?.length || effects.memory?.length || effects.slots?.length));
}

/** "12.3" after "12.10"? Positions of a run are two numbers. */
export function isAfter(position, than) {
  const [epoch, seq] = position.split(".").map(Number);
  const [lastEpoch, lastSeq] = (than || "0.0").split(".").map(Number);
  return epoch > lastEpoch || (epoch === lastEpoch && seq > lastSeq);
}
