// A store: a value that components follow. Preferences are kept in the browser, never in a cookie.
import { useEffect, useState } from "./html.js";

export function store(initial) {
  let value = initial;
  const followers = new Set();
  const set = (next) => {
    value = typeof next === "function" ? next(value) : next;
    for (const follower of [...followers]) follower(value);
  };
  const follow = (follower) => {
    followers.add(follower);
    return () => followers.delete(follower);
  };
  const use = () => {
    const [, render] = useState();
    useEffect(() => follow(() => render({})), []);
    return value;
  };
  return { get: () => value, set, use, follow };
}

export function preference(name, values) {
  const key = `minutehand.${name}`;
  const kept = store(values.includes(read(key)) ? read(key) : values[0]);
  kept.follow((value) => write(key, value));
  kept.next = () => kept.set(values[(values.indexOf(kept.get()) + 1) % values.length]);
  return kept;
}

// A browser may deny access to its storage.
function read(key) {
  try { return localStorage.getItem(key); } catch { return null; }
}

function write(key, value) {
  try { localStorage.setItem(key, value); } catch { /* The preference lasts until the page is closed. */ }
}
