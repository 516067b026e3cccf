// What a draft's fields mean to a person.
import { enumWord } from "../lib/format.js";

export const RETENTION = {
  RETENTION_POLICY_DELETE_ON_FINALIZE: "deleted soon after it ends",
  RETENTION_POLICY_KEEP_FOR_DEBUG: "kept for debugging after it ends",
  RETENTION_POLICY_TTL: "lives for a set time",
};

export const stateWord = (draft) => enumWord(draft.state, "DRAFT_STATE_");
export const isActive = (draft) => draft.state === "DRAFT_STATE_ACTIVE";
