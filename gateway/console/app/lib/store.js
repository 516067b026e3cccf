// A small store: a value, a way to replace parts of it, and a hook that follows it.
import { useEffect, useState } from "preact/hooks";

/** @returns {{get, set, patch, subscribe}} `set` takes the next value, or a function of the last one. */
export function createStore(initial) {
  let value = initial;
  const listeners = new Set();
  const set = (next) => {
    const changed = typeof next === "function" ? next(value) : next;
    if (changed === value) return;
    value = changed;
    for (const listener of [...listeners]) listener(value);
  };
  return {
    get: () => value,
    set,
    patch: (part) => set((last) => ({ ...last, ...part })),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The store's value, rendered again whenever it changes. */
export function useStore(store) {
  const [value, setValue] = useState(store.get());
  useEffect(() => {
    setValue(store.get());
    return store.subscribe(setValue);
  }, [store]);
  return value;
}
