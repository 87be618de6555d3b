// Dialogs, one at a time. A change of many jobs is confirmed after a dry run.
import { html, useEffect, useRef, useState } from "./html.js";
import { store } from "./store.js";

const opened = store(null);
export const open = (view) => opened.set({ view });
export const close = () => opened.set(null);
export const isOpen = () => opened.get() !== null;

export function Dialogs() {
  const current = opened.use();
  return current && html`<${current.view} />`;
}

export function Dialog({ title, children, onClose = close, wide = false }) {
  const dialog = useRef();
  useEffect(() => dialog.current.showModal(), []);
  return html`<dialog ref=${dialog} class=${wide ? "wide" : ""} aria-labelledby="dialog-title" onCancel=${onClose} onClose=${onClose}>
    <header>
      <h2 id="dialog-title">${title}</h2>
      <button class="quiet" aria-label="Close" onClick=${onClose}>×</button>
    </header>
    ${children}
  </dialog>`;
}

// Asks for confirmation. `preview` is a promise of what the change would do, `fields` are inputs, and `run` makes the
// change with their values.
export function confirm({ title, text, verb, danger = false, preview, fields, run }) {
  open(() => html`<${Confirmation} ...${{ title, text, verb, danger, preview, fields, run }} />`);
}

function Confirmation({ title, text, verb, danger, preview, fields, run }) {
  const [state, setState] = useState({ busy: Boolean(preview), problem: "", found: null });
  const merge = (changes) => setState((last) => ({ ...last, ...changes }));
  useEffect(() => {
    preview?.().then((found) => merge({ found, busy: false }), (error) => merge({ problem: error.message, busy: false }));
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    merge({ busy: true, problem: "" });
    try {
      await run(Object.fromEntries(new FormData(event.target)), (progress) => merge({ progress }));
      close();
    } catch (error) { merge({ problem: error.message, busy: false }); }
  };
  const nothing = preview && !state.found?.count;
  return html`<${Dialog} title=${title}>
    <form onSubmit=${submit}>
      ${text && html`<p>${text}</p>`}
      ${preview && html`<div class="preview" aria-live="polite">${state.found?.view ?? (state.busy ? "Counting …" : "")}</div>`}
      ${fields}
      ${state.progress && html`<p role="status">${state.progress}</p>`}
      ${state.problem && html`<p role="alert" class="problem">${state.problem}</p>`}
      <div class="actions">
        <button type="button" onClick=${close}>Keep as is</button>
        <button type="submit" class=${danger ? "danger" : "first"} disabled=${state.busy || nothing}>${verb}</button>
      </div>
    </form>
  <//>`;
}
