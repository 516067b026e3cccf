// A branch of a session, as the conversation view wants it. draft_source.js is its twin for drafts.
import * as floors from "../api/floors.js";
import { getSession } from "../api/sessions.js";

const PAGE = 40;

export function sessionSource(sessionId, branch) {
  const read = async (query, signal) => {
    const path = await floors.listPath(sessionId, { order: "PATH_ORDER_HEAD_FIRST", ...query }, signal);
    return {
      floors: path.floors.toReversed(),
      positions: path.positions,
      pending: path.pendingFloor ?? null,
      head: path.headFloorId,
      older: path.nextPageToken,
    };
  };
  return {
    kind: "session",
    id: sessionId,
    branch,
    runPath: "/v1/runs",
    respondPath: `/v1/sessions/${sessionId}:respond`,
    where: { branch },

    /** The newest part of the path, with all that stands around it. */
    async open(signal) {
      const [path, branches, session] = await Promise.all([
        read({ branch, pageSize: PAGE }, signal),
        floors.listBranches(sessionId),
        getSession(sessionId, signal),
      ]);
      const own = branches.find((one) => one.name === branch);
      const failed = own?.failedFloorId ? (await floors.getFloor(own.failedFloorId, signal)).floor : null;
      return {
        ...path,
        branches,
        session,
        title: session.title,
        failed: failed && failed.parentFloorId === path.head && !path.pending ? failed : null,
        writable: session.state === "SESSION_STATE_ACTIVE",
      };
    },
    async headNow() {
      const branches = await floors.listBranches(sessionId);
      return branches.find((one) => one.name === branch)?.headFloorId ?? "";
    },
    older: (token) => read({ branch, pageSize: PAGE, pageToken: token }),
    siblings: (floorId) => floors.listSiblings(floorId, branch),
    async candidates(floor) {
      const { pages } = await floors.listPages(floor.floorId);
      return pages.filter((page) => page.slot === "SLOT_OUTPUT");
    },
    select: (floorId, expectedHead) => floors.selectSibling(sessionId, branch, { floorId, expectedHead }),
    move: (floorId, expectedHead) => floors.moveHead(sessionId, branch, { floorId, expectedHead }),
    commit: (floorId, pageId, expectedHead) => floors.commitFloor(floorId, { pageId, expectedHead }),
    abandon: (floorId) => floors.abandonFloor(floorId, "discarded in the console"),
    replaceAnswer: (floorId, output, expectedHead) =>
      floors.regenerateFloor(floorId, { sessionId, branch, expectedHead, output }),
  };
}
