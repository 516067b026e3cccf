// A draft, as the conversation view wants it: its frozen history first, then its own floors.
import { attach } from "../api/runs.js";
import { getDraft, getDraftTree, getTranscript } from "../api/drafts.js";
import { post } from "../api/http.js";
import { emptyRun, foldFrame } from "./fold.js";

export function draftSource(draftId) {
  const base = `/v1/drafts/${draftId}`;
  const runPath = `${base}/runs`;

  /** The whole transcript: drafts are short. */
  async function transcript(signal) {
    const whole = { snapshot: [], floors: [], positions: [], pending: null, branch: null };
    let pageToken = "";
    do {
      const query = { includeSnapshot: true, pageSize: 500, pageToken };
      const page = await getTranscript(draftId, query, signal);
      whole.snapshot.push(...page.snapshotFloors);
      whole.floors.push(...page.floors);
      whole.positions.push(...page.positions);
      whole.pending = page.pendingFloor ?? whole.pending;
      whole.branch = page.branch ?? whole.branch;
      pageToken = page.nextPageToken;
    } while (pageToken);
    return whole;
  }

  return {
    kind: "draft",
    id: draftId,
    branch: "main",
    runPath,
    respondPath: `${base}:respond`,
    where: {},

    async open(signal) {
      const [draft, found] = await Promise.all([getDraft(draftId), transcript(signal)]);
      return {
        floors: [...found.snapshot.map((floor) => ({ ...floor, frozen: true })), ...found.floors],
        positions: found.positions,
        pending: found.pending,
        head: found.branch?.headFloorId ?? "",
        older: "",
        branches: [],
        draft,
        title: draft.title || draft.purpose,
        failed: null,
        writable: draft.state === "DRAFT_STATE_ACTIVE",
      };
    },
    older: async () => ({ floors: [], positions: [], older: "" }),
    /** A draft lists no siblings; its tree has them. */
    async siblings(floorId) {
      const { floors } = await getDraftTree(draftId);
      const own = floors.find((floor) => floor.floorId === floorId);
      const found = floors.filter(
        (floor) => floor.parentFloorId === own.parentFloorId && floor.state === "FLOOR_STATE_COMMITTED",
      );
      return { floors: found, positions: positionsOf(found) };
    },
    /** Nor candidates; the frames of the run that wrote them do, for an hour. */
    async candidates(floor) {
      let run = emptyRun();
      if (floor.runId) {
        const options = { signal: AbortSignal.timeout(10_000), endsWell: true };
        for await (const frame of attach(runPath, floor.runId, options)) run = foldFrame(run, frame);
      }
      const pages = run.pages.map((page) => page.whole).filter(Boolean);
      return pages.length ? pages : [floor.outputPage].filter(Boolean);
    },
    select: (floorId, expectedHead) => post(`${base}:selectSibling`, { floorId, expectedHead }),
    move: (floorId, expectedHead) => post(`${base}:moveHead`, { floorId, expectedHead }),
    commit: (floorId, pageId, expectedHead) => post(`${base}/floors/${floorId}:commit`, { pageId, expectedHead }),
    abandon: null,
    replaceAnswer: (floorId, output, expectedHead) =>
      post(`${base}/floors/${floorId}:regenerate`, { output, expectedHead }),
  };
}

/** As the contract computes them: inputs by the lowest ordinal, outputs by ordinal within one input. */
export function positionsOf(siblings) {
  const inputs = [];
  for (const floor of siblings.toSorted((a, b) => a.ordinal - b.ordinal)) {
    const id = floor.inputPage?.pageId ?? "";
    const group = inputs.find((one) => one.id === id);
    if (group) group.floors.push(floor);
    else inputs.push({ id, floors: [floor] });
  }
  return siblings.map((floor) => {
    const inputIndex = inputs.findIndex((one) => one.floors.includes(floor));
    const outputs = inputs[inputIndex].floors;
    return {
      floorId: floor.floorId,
      inputIndex: inputIndex + 1,
      inputCount: inputs.length,
      outputIndex: outputs.indexOf(floor) + 1,
      outputCount: outputs.length,
    };
  });
}
