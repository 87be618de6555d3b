// Live data: loads again every few seconds while the page is visible and updates are not paused. The slower the answers, the
// longer the pauses: loads of a page take at most a tenth of the time together, so that they never burden a slow database.
import { useCallback, useEffect, useRef, useState } from "./html.js";
import { recoveries, signIn } from "./api.js";
import { store } from "./store.js";

const EVERY_MS = 5000;
const RETRY_MS = 5000;
const PART = 10;

let followed = 0;

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

// How long to pause after a load, in milliseconds, if a page has so many that repeat.
export const restAfter = (took, loads) => took * (PART * loads - 1);

function follow(load, every, show) {
  const control = new AbortController();
  let timer;
  let running = false;
  let rested = 0;
  let failed = false;
  // The first load may wait for a cold start.
  let again = false;
  const run = async () => {
    clearTimeout(timer);
    if (running || control.signal.aborted) return;
    running = true;
    const begun = performance.now();
    try {
      const data = await load(control.signal);
      failed = false;
      if (!control.signal.aborted) show({ data, error: null, at: Date.now() });
    } catch (error) {
      failed = true;
      if (!control.signal.aborted && error.name !== "AbortError") show({ error });
    }
    running = false;
    const rest = again ? restAfter(performance.now() - begun, followed) : 0;
    again = true;
    rested = performance.now() + rest;
    if (!control.signal.aborted && every) timer = setTimeout(tick, Math.max(failed ? Math.min(every, RETRY_MS) : every, rest));
  };
  const tick = () => (document.hidden || !live.get() || signIn.get() ? null : run());
  // A page that is shown again loads at once, unless it still rests.
  const wake = () => {
    if (!every) return;
    clearTimeout(timer);
    timer = setTimeout(tick, Math.max(0, rested - performance.now()));
  };
  followed += every ? 1 : 0;
  const stops = [live.follow(() => every && tick()), signIn.follow((open) => open || run()), reloads.follow(run), recoveries.follow(() => failed && run())];
  document.addEventListener("visibilitychange", wake);
  run();
  return () => {
    followed -= every ? 1 : 0;
    control.abort();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", wake);
    for (const stop of stops) stop();
  };
}
