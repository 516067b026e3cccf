// The loaded part of a path. Pure.

/** Positions by floor. */
export function byFloor(positions) {
  return Object.fromEntries(positions.map((one) => [one.floorId, one]));
}

/**
 * What was loaded before, and the newest part that was read again: the older floors stay when the new ones
 * stand on them, so that what one has scrolled to stays where it is.
 */
export function mergeNewest(last, fresh) {
  const first = fresh.floors[0];
  const at = first ? last.floors.findIndex((floor) => floor.floorId === first.parentFloorId) : -1;
  if (at < 0) return { ...fresh, positions: byFloor(fresh.positions) };
  return {
    ...fresh,
    floors: [...last.floors.slice(0, at + 1), ...fresh.floors],
    positions: { ...last.positions, ...byFloor(fresh.positions) },
    older: last.older,
  };
}

export function withOlder(last, more) {
  return {
    ...last,
    floors: [...more.floors, ...last.floors],
    positions: { ...byFloor(more.positions), ...last.positions },
    older: more.older,
  };
}

/** The sibling `by` steps away on a side ("input" or "output"); undefined at either end. */
export function neighbour({ floors, positions }, floorId, side, by) {
  const own = positions.find((one) => one.floorId === floorId);
  const wanted = positions.filter((one) =>
    side === "input"
      ? one.inputIndex === own.inputIndex + by
      : one.inputIndex === own.inputIndex && one.outputIndex === own.outputIndex + by,
  );
  // Of another input's answers the newest, as the contract goes down.
  const best = wanted.toSorted((a, b) => b.outputIndex - a.outputIndex)[0];
  return best && floors.find((floor) => floor.floorId === best.floorId);
}
