// Changes of the selected jobs, after a preview.
import { html } from "../../vendor/preact.js";
import { post } from "../../app/api.js";
import { confirm } from "../../app/dialog.js";
import { reload } from "../../app/live.js";
import { toast } from "../../app/toasts.js";
import { plural, State } from "../../app/ui.js";
import { VERBS } from "../job/verbs.js";

export function BulkActions({ selection, rows }) {
  const chosen = rows.filter(({ id }) => selection.has(id));
  if (!chosen.length) return null;
  return html`<div class="bulk" role="region" aria-label="Selected jobs">
    <strong>${plural(chosen.length, "job")} selected</strong>
    <div class="actions">
      ${VERBS.filter(({ states }) => chosen.some(({ state }) => states.includes(state))).map((verb) => html`
        <button class=${verb.danger ? "danger" : ""} onClick=${() => ask(verb, chosen, selection)}>${verb.title}</button>`)}
      <button class="quiet" onClick=${selection.clear}>Clear</button>
    </div>
  </div>`;
}

function ask(verb, chosen, selection) {
  const allowed = chosen.filter(({ state }) => verb.states.includes(state));
  const left = chosen.length - allowed.length;
  confirm({
    title: `${verb.title} ${plural(allowed.length, "job")}?`,
    text: verb.meaning,
    verb: verb.title,
    danger: verb.danger,
    fields: verb.fields?.(),
    preview: async () => ({
      count: allowed.length,
      view: html`${plural(allowed.length, "job")} will change.
        ${left > 0 && ` ${plural(left, "job")} will not, because of the state.`}
        <${Sample} jobs=${allowed} />`,
    }),
    run: async (fields) => {
      const result = await post("/jobs/change", { verb: verb.name, ids: allowed.map(({ id }) => id), ...verb.body?.(fields, true) });
      toast(sentence(verb, result), { kind: result.refused || result.absent ? "bad" : "good" });
      selection.clear();
      reload();
    },
  });
}

export const Sample = ({ jobs }) => html`<ul>${jobs.slice(0, 5).map((job) => html`
  <li><${State} state=${job.state} /> ${job.kind} ${job.key && html`<span class="soft">${job.key}</span>`}</li>`)}
  ${jobs.length > 5 && html`<li>…</li>`}</ul>`;

export function sentence(verb, { changed, requested, refused, absent }) {
  const parts = [`${plural(changed, "job")} ${verb.past}`];
  if (requested) parts.push(`${requested} asked to stop`);
  if (refused) parts.push(`${refused} refused`);
  if (absent) parts.push(`${absent} no longer there`);
  return `${parts.join(", ")}.`;
}
