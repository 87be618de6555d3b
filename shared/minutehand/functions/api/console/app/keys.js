// Keyboard shortcuts. A page adds its own while it is shown.
import { html, useLayoutEffect, useRef } from "./html.js";
import { Dialog, isOpen, open } from "./dialog.js";

const sources = [];
const PREFIX_MS = 1200;
let prefix = { key: "", at: 0 };

// keys: "j", or "g j" for one after the other. A key may be pressed as soon as the page shows what it acts on.
export function useKeys(bindings) {
  const latest = useRef();
  latest.current = bindings;
  useLayoutEffect(() => {
    sources.push(latest);
    return () => sources.splice(sources.indexOf(latest), 1);
  }, []);
}

const shortcuts = () => sources.flatMap((source) => source.current);

function isTyping(target) {
  return target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName)
    || (target.tagName === "INPUT" && !["checkbox", "radio", "button"].includes(target.type));
}

function press(event) {
  if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || isOpen()) return;
  const pair = event.timeStamp - prefix.at < PREFIX_MS ? `${prefix.key} ${event.key}` : "";
  prefix = { key: event.key, at: event.timeStamp };
  const known = shortcuts();
  const found = known.findLast(({ keys }) => keys === pair) ?? known.findLast(({ keys }) => keys === event.key);
  if (!found) return;
  event.preventDefault();
  prefix = { key: "", at: 0 };
  found.run();
}

export const startKeys = () => document.addEventListener("keydown", press);

export const showKeys = () => open(() => html`<${Dialog} title="Keyboard shortcuts">
  <dl class="keys">
    ${shortcuts().map(({ keys, text }) => html`
      <dt>${keys.split(" ").map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${text}</dd>`)}
  </dl>
<//>`);
