// Live data: loads again every few seconds while the page is visible and updates are not paused.
import { useCallback, useEffect, useRef, useState } from "../vendor/preact.js";
import { signIn } from "./api.js";
import { store } from "./store.js";

const EVERY_MS = 5000;

export const live = store(true);
const reloads = store(0);
export const reload = () => reloads.set((count) => count + 1);

// Returns the latest data, which stays visible while the next is loaded or if that fails.
export function useLive(load, deps = [], every = EVERY_MS) {
  const [state, setState] = useState({ data: null, error: null, key: null });
  const key = JSON.stringify(deps);
  const loader = useRef(load);
  loader.current = load;
  const refresh = useCallback((signal) => loader.current(signal), []);
  useEffect(() => follow(refresh, every, (next) => setState((last) => ({ ...last, ...next, key }))), [key]);
  return { ...state, stale: state.key !== key, refresh: reload };
}

function follow(load, every, show) {
  const control = new AbortController();
  let timer;
  let running = false;
  const run = async () => {
    clearTimeout(timer);
    if (running || control.signal.aborted) return;
    running = true;
    try {
      const data = await load(control.signal);
      if (!control.signal.aborted) show({ data, error: null, at: Date.now() });
    } catch (error) {
      if (!control.signal.aborted && error.name !== "AbortError") show({ error });
    }
    running = false;
    if (!control.signal.aborted && every) timer = setTimeout(tick, every);
  };
  const tick = () => (document.hidden || !live.get() || signIn.get() ? null : run());
  const wake = () => (every ? tick() : null);
  const stops = [live.follow(wake), signIn.follow((open) => open || run()), reloads.follow(run)];
  document.addEventListener("visibilitychange", wake);
  run();
  return () => {
    control.abort();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", wake);
    for (const stop of stops) stop();
  };
}
