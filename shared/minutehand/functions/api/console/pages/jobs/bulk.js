// Changes of the selected jobs, or of all jobs that match the filters, after a dry run.
import { html, useEffect, useState } from "../../app/html.js";
import { post } from "../../app/api.js";
import { confirm, isOpen } from "../../app/dialog.js";
import { reload } from "../../app/live.js";
import { toast } from "../../app/toasts.js";
import { plural, State } from "../../app/ui.js";
import { VERBS } from "../job/verbs.js";
import { filterBody } from "./filters.js";

const SAMPLE = 5;
const OUTCOMES = ["changed", "requested", "refused", "absent"];

export function BulkActions({ selection, rows, query, page }) {
  const [all, setAll] = useState(false);
  useEffect(() => setAll(false), [query.toString()]);
  const chosen = rows.filter(({ id }) => selection.has(id));
  if (!chosen.length) return null;
  const whole = chosen.length === rows.length && Boolean(page?.next || page?.previous);
  const matching = all && whole;
  const verbs = VERBS.filter(({ states }) => matching || chosen.some(({ state }) => states.includes(state)));
  const start = (verb) => (matching ? changeMatching(verb, filterBody(query), selection) : changeChosen(verb, chosen, selection));
  return html`<div class="bulk" role="region" aria-label="Selected jobs">
    <span><strong>${matching ? "All jobs that match" : `${plural(chosen.length, "job")} selected`}</strong>
      ${whole && html` <button class="quiet" onClick=${() => setAll(!all)}>${matching ? "Only this page" : "Select all that match"}</button>`}</span>
    <div class="actions">
      ${verbs.map((verb) => html`<button class=${verb.danger ? "danger" : ""} onClick=${() => start(verb)}>${verb.title}</button>`)}
      <button class="quiet" onClick=${selection.clear}>Clear</button>
    </div>
  </div>`;
}

const common = (verb, running = "") => ({ text: `${verb.meaning} ${running}`, verb: verb.title, danger: verb.danger, fields: verb.fields?.() });

function changeChosen(verb, chosen, selection) {
  const allowed = chosen.filter(({ state }) => verb.states.includes(state));
  const left = chosen.length - allowed.length;
  confirm({
    ...common(verb, verb.running),
    title: `${verb.title} ${plural(allowed.length, "job")}?`,
    preview: async () => ({
      count: allowed.length,
      view: html`${plural(allowed.length, "job")} will change.
        ${left > 0 && ` ${plural(left, "job")} will not, because of the state.`}
        <${Sample} jobs=${allowed} />`,
    }),
    run: async (fields) => {
      const result = await post("/jobs/change", { verb: verb.name, ids: allowed.map(({ id }) => id), ...verb.body?.(fields) });
      finish(verb, result, selection);
    },
  });
}

function changeMatching(verb, filter, selection) {
  confirm({
    ...common(verb),
    title: `${verb.title} all jobs that match?`,
    preview: async () => {
      const { count, more, sample } = await post("/jobs/matching", { verb: verb.name, filter, dry_run: true });
      return { count: count || more, view: html`${more ? "At least " : ""}${plural(count, "job")} will change. <${Sample} jobs=${sample} more=${count > SAMPLE} />` };
    },
    run: async (fields, progress) => finish(verb, await repeat({ verb: verb.name, filter, dry_run: false, ...verb.body?.(fields, true) }, progress), selection),
  });
}

// Each request changes a bounded number of jobs. Closing the dialog stops after the current one.
async function repeat(body, progress) {
  const totals = Object.fromEntries(OUTCOMES.map((name) => [name, 0]));
  let after = null;
  do {
    const result = await post("/jobs/matching", after ? { ...body, after } : body);
    for (const name of OUTCOMES) totals[name] += result[name];
    after = result.after;
    progress(`${plural(totals.changed, "job")} changed so far. Closing this dialog stops.`);
  } while (after && isOpen());
  return totals;
}

function finish(verb, result, selection) {
  toast(sentence(verb, result), { kind: result.refused || result.absent ? "bad" : "good" });
  selection.clear();
  reload();
}

const Sample = ({ jobs, more = jobs.length > SAMPLE }) => html`<ul>${jobs.slice(0, SAMPLE).map((job) => html`
  <li><${State} state=${job.state} /> ${job.kind} ${job.key && html`<span class="soft">${job.key}</span>`}</li>`)}
  ${more && html`<li>…</li>`}</ul>`;

function sentence(verb, { changed, requested, refused, absent }) {
  const parts = [`${plural(changed, "job")} ${verb.past}`];
  if (requested) parts.push(`${requested} asked to stop`);
  if (refused) parts.push(`${refused} refused`);
  if (absent) parts.push(`${absent} no longer there`);
  return `${parts.join(", ")}.`;
}
