// What an entry is and where it stands, in words.
import { enumWord } from "../lib/format.js";

export const stateWord = (entry) => enumWord(entry.state, "STAGED_WRITE_STATE_");

/** Said from the target: lists come without what the parts hold. */
export function kindOf({ target }) {
  if (target.placement === "PLACEMENT_OUTPUT_OF_FLOOR") return "Another answer to a turn";
  if (target.placement === "PLACEMENT_NEXT_FLOOR") return "The next turn";
  return "A change of configuration or state";
}
