// Hooks that several views use.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

/** Loads by an async function: {value, error, loading, reload}. An answer that comes too late is dropped. */
export function useLoaded(load, keys) {
  const [state, setState] = useState({ loading: true });
  const turn = useRef(0);
  const reload = useCallback(async () => {
    const mine = ++turn.current;
    setState((last) => ({ ...last, loading: true }));
    try {
      const value = await load();
      if (mine === turn.current) setState({ value, loading: false });
    } catch (error) {
      if (mine === turn.current) setState((last) => ({ value: last.value, error, loading: false }));
    }
  }, keys);
  useEffect(() => {
    void reload();
    return () => {
      turn.current += 1;
    };
  }, [reload]);
  return { ...state, reload };
}

/** An action with its progress: [run, busy, error, clear]. One at a time. */
export function useAction(action) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const running = useRef(false);
  const run = async (...args) => {
    if (running.current) return undefined;
    running.current = true;
    setBusy(true);
    setError(null);
    try {
      return await action(...args);
    } catch (failure) {
      setError(failure);
      return undefined;
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return [run, busy, error, () => setError(null)];
}

/** The time in ms, again each `every` ms. */
export function useNow(every = 1000) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

export function useTitle(title) {
  useEffect(() => {
    document.title = title ? `${title} · Stemma` : "Stemma";
  }, [title]);
}
