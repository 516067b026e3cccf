/**
 * A chat in one file: copy it, and begin.
 *
 * It asks STEMMA_CONVERSATION, with STEMMA_API_KEY if it is set. Each line is a turn. `/edit WORDS` says the last
 * one differently, `/again` asks for another answer to it: both keep what was there. Ends with the input.
 */
import { stdin, stdout } from "node:process";
import { createInterface } from "node:readline/promises";

import { Role, Stemma, StemmaError } from "stemma-client";

/** What a line asks for. `last` is the id of the last turn's floor; empty, it is the first. */
function turn(line: string, last: string) {
  const [command = "", ...words] = line.split(" ");
  if (command === "/again" && last) return { $case: "regenerate", value: { floorId: last } } as const;
  const text = command === "/edit" ? words.join(" ") : line;
  const messages = [{ role: Role.ROLE_USER, parts: [{ kind: { $case: "text", value: { text } } as const }] }];
  if (command === "/edit" && last) return { $case: "edit", value: { floorId: last, messages } } as const;
  return { $case: "input", value: { messages } } as const;
}

const stemma = new Stemma();
const { session } = await stemma.sessions.createSession({ title: "Chat" });
const sessionId = session?.sessionId ?? "";
console.log(`session ${sessionId}`);
let last = "";
for await (const line of createInterface({ input: stdin })) {
  if (!line.trim()) continue;
  try {
    for await (const { floorId, event } of stemma.respond({ sessionId, action: turn(line.trim(), last) })) {
      last = floorId;
      if (event?.$case === "textDelta") stdout.write(event.value.text);
      if (event?.$case === "failed") stdout.write(`[failed: ${event.value.reason}]`);
    }
    stdout.write("\n");
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    console.log(`[${error.message}]`);
  }
}
stemma.close();
