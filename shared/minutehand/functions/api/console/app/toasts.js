// Short messages about finished actions; errors stay until they are closed.
import { html } from "./html.js";
import { store } from "./store.js";

const STAYS_MS = 6000;
const toasts = store([]);
let count = 0;

export function toast(text, { kind = "good", link = null } = {}) {
  const id = ++count;
  toasts.set((all) => [...all.slice(-3), { id, text, kind, link }]);
  if (kind !== "bad") setTimeout(() => dismiss(id), STAYS_MS);
}

export const toastError = (error) => toast(error.message, { kind: "bad" });
const dismiss = (id) => toasts.set((all) => all.filter((each) => each.id !== id));

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.use().map(({ id, text, kind, link }) => html`<div class="toast ${kind}" key=${id}>
      <span>${text} ${link && html`<a href=${link.href}>${link.text}</a>`}</span>
      <button class="quiet" aria-label="Dismiss" onClick=${() => dismiss(id)}>×</button>
    </div>`)}
  </div>`;
}
