// Where an arrow leads: up to the parent, down to the child on the path, sideways on the same level. Pure.
export function neighbourOf({ byId, items }, id, key) {
  const item = byId.get(id);
  if (!item) return key.startsWith("Arrow") ? items[0]?.id : undefined;
  if (key === "ArrowUp") return item.parentItem;
  if (key === "ArrowDown") {
    const children = item.childItems.map((one) => byId.get(one));
    return (children.find((one) => one.node.onPath) ?? children[0])?.id;
  }
  if (key !== "ArrowLeft" && key !== "ArrowRight") return undefined;
  const way = key === "ArrowLeft" ? -1 : 1;
  const level = items.filter((one) => one.y === item.y && (one.x - item.x) * way > 0);
  return level.toSorted((a, b) => (a.x - b.x) * way)[0]?.id;
}
