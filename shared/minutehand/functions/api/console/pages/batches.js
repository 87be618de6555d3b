// Batches: their progress, and cancel and retry of their jobs.
import { html } from "../app/html.js";
import { post, request } from "../app/api.js";
import { confirm } from "../app/dialog.js";
import { reload, useLive } from "../app/live.js";
import { useOperator } from "../app/role.js";
import { link, setQuery } from "../app/router.js";
import { Table } from "../app/table.js";
import { Time } from "../app/time.js";
import { toast } from "../app/toasts.js";
import { count, Empty, Fault, Page, plural, SHORT_ID, Skeleton, State } from "../app/ui.js";

export default function Batches({ query }) {
  const operator = useOperator();
  const before = query.get("before");
  const { data, error } = useLive((signal) => request(`/batches?limit=50${before ? `&before=${encodeURIComponent(before)}` : ""}`, { signal }), [before]);
  return html`<${Page} title="Batches">
    <${Fault} error=${error} />
    ${!data && !error && html`<${Skeleton} />`}
    ${data && (data.batches.length
      ? html`<${Table} label="Batches" rows=${data.batches} columns=${[...COLUMNS, ...(operator ? [CHANGES] : [])]} />`
      : html`<${Empty} title="No batches" command="minutehand batches --help">Open one in code, with a callback for its end:<//>`)}
    ${data && (data.before || before) && html`<nav class="pager" aria-label="Pages of batches">
      <button disabled=${!before} onClick=${() => setQuery({ before: null })}>Newest</button>
      <button disabled=${!data.before} onClick=${() => setQuery({ before: data.before })}>Older</button></nav>`}
  <//>`;
}

const COLUMNS = [
  { title: "Batch", kind: "main", cell: ({ id, name }) => html`<a href=${link("jobs", { batch: id })}>${name ?? "batch"}</a> <small class="mono">${id.slice(-SHORT_ID)}</small>` },
  { title: "State", cell: ({ state }) => html`<${State} state=${state} />` },
  { title: "Progress", kind: "long", cell: (batch) => html`<${Progress} ...${batch} />` },
  { title: "Dead", kind: "number", cell: ({ id, dead }) => html`<a href=${link("jobs", { batch: id, state: "dead" })}>${count(dead)}</a>` },
  { title: "Opened", kind: "when", cell: ({ created }) => html`<${Time} at=${created} />` },
];

function Progress({ total, open }) {
  const ended = total - open;
  return html`<progress max=${Math.max(total, 1)} value=${ended} aria-label=${`${count(ended)} of ${count(total)} jobs ended`}></progress>
    <small> ${count(ended)} of ${plural(total, "job")}</small>`;
}

const CHANGES = { title: "Changes", hidden: true, kind: "number", cell: (batch) => html`<span class="actions">
  ${batch.open > 0 && html`<button onClick=${() => change(batch, "cancel")}>Cancel</button>`}
  ${batch.dead + batch.expired + batch.cancelled > 0 && html`<button onClick=${() => change(batch, "retry")}>Retry</button>`}</span>` };

function change({ id, name, open, dead, expired, cancelled }, verb) {
  const jobs = verb === "cancel" ? open : dead + expired + cancelled;
  confirm({
    title: `${verb === "cancel" ? "Cancel" : "Retry"} ${plural(jobs, "job")} of ${name ?? "the batch"}?`,
    text: verb === "cancel" ? "Its upcoming jobs are cancelled; running ones continue." : "Its dead, expired and cancelled jobs run again.",
    verb: verb === "cancel" ? "Cancel jobs" : "Retry jobs",
    danger: verb === "cancel",
    run: async () => {
      const { changed } = await post(`/batches/${encodeURIComponent(id)}/${verb}`, {});
      toast(`${plural(changed, "job")} ${verb === "cancel" ? "cancelled" : "retried"}.`, { kind: "good" });
      reload();
    },
  });
}
