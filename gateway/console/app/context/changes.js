// What differs between two states: {name, before, after}; absent is undefined. Pure.
export function changes(before, after) {
  const left = flat(before);
  const right = flat(after);
  const names = [...new Set([...left.keys(), ...right.keys()])].sort();
  return names
    .map((name) => ({ name, before: left.get(name), after: right.get(name) }))
    .filter((one) => one.before !== one.after);
}

function flat({ variables, memory, slots }) {
  return new Map([
    ...variables.map((one) => [one.key, one.valueJson]),
    ...memory.map((one) => [`memory ${one.factKey || one.memoryId.slice(-6)}`, one.deprecated ? undefined : one.text]),
    ...slots.map((one) => [`${one.namespace}.${one.slot}`, one.valueJson]),
  ]);
}
