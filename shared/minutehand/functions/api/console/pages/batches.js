// Batches: their progress, those nested in one for `?parent=`, and cancel and retry of their jobs.
import { html } from "../app/html.js";
import { post, request } from "../app/api.js";
import { confirm } from "../app/dialog.js";
import { reload, useLive } from "../app/live.js";
import { useOperator } from "../app/role.js";
import { link, setQuery } from "../app/router.js";
import { Table } from "../app/table.js";
import { Time } from "../app/time.js";
import { toast } from "../app/toasts.js";
import { count, Counted, Empty, Fault, Page, Panel, plural, SHORT_ID, Skeleton, State } from "../app/ui.js";

// The API counts no more.
const NESTED = 100;

export default function Batches({ query }) {
  const operator = useOperator();
  const [parent, before] = [query.get("parent"), query.get("before")];
  const { data, error } = useLive((signal) => load(parent, before, signal), [parent, before]);
  const columns = [...COLUMNS, ...(operator ? [CHANGES] : [])];
  const list = (label, rows) => html`<${Table} label=${label} rows=${rows} columns=${columns} />`;
  return html`<${Page} title=${parent ? data?.parent?.name ?? "Batch" : "Batches"} trail=${parent && html`<a href=${link("batches")}>Batches</a>`}>
    <${Fault} error=${error} />
    ${!data && !error && html`<${Skeleton} />`}
    ${data?.parent && list("The batch", [data.parent])}
    ${data && (data.batches.length ? parent ? html`<${Panel} title="Nested batches">${list("Nested batches", data.batches)}<//>` : list("Batches", data.batches)
      : parent ? html`<${Empty} title="No batch is nested in this one"><a href=${link("jobs", { batch: parent })}>Show its jobs</a><//>`
        : html`<${Empty} title="No batches" command="minutehand batches --help">Open one in code, with a callback for its end:<//>`)}
    ${data && (data.before || before) && html`<nav class="pager" aria-label="Pages of batches">
      <button disabled=${!before} onClick=${() => setQuery({ before: null })}>Newest</button>
      <button disabled=${!data.before} onClick=${() => setQuery({ before: data.before })}>Older</button></nav>`}
  <//>`;
}

async function load(parent, before, signal) {
  const page = request(`/batches?${new URLSearchParams({ limit: 50, ...(parent && { parent }), ...(before && { before }) })}`, { signal });
  const [{ batches, before: next }, found] = await Promise.all([page, parent && request(`/batches/${encodeURIComponent(parent)}`, { signal })]);
  return { batches, before: next, parent: found };
}

const nameOf = ({ name }) => name ?? "batch";

const COLUMNS = [
  { title: "Batch", kind: "main", cell: (batch) => html`<a href=${link("jobs", { batch: batch.id })}>${nameOf(batch)}</a> <small class="mono">${batch.id.slice(-SHORT_ID)}</small>` },
  { title: "State", cell: ({ state }) => html`<${State} state=${state} />` },
  { title: "Progress", kind: "long", cell: (batch) => html`<${Progress} ...${batch} />` },
  { title: "Dead", kind: "number", cell: ({ id, dead }) => html`<${Counted} number=${{ jobs: dead }} to=${link("jobs", { batch: id, state: "dead" })} />` },
  { title: "Nesting", kind: "plain", cell: ({ id, parent, nested }) => html`
    ${parent && html`<a href=${link("batches", { parent })}>in a batch</a>`}${parent && nested > 0 && ", "}
    ${nested > 0 && html`<a href=${link("batches", { parent: id })}>has ${nested < NESTED ? plural(nested, "batch", "batches") : `${NESTED}+ batches`}</a>`}` },
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

function change({ id, name, nested, open, dead, expired, cancelled }, verb) {
  const jobs = verb === "cancel" ? open : dead + expired + cancelled;
  // The counts have a nested batch as one job.
  const [some, those] = nested ? ["the jobs", ", and those of the batches nested in it,"] : [plural(jobs, "job"), ""];
  confirm({
    title: `${verb === "cancel" ? "Cancel" : "Retry"} ${some} of ${name ?? "the batch"}?`,
    text: verb === "cancel" ? `Its upcoming jobs${those} are cancelled; running ones continue.` : `Its dead, expired and cancelled jobs${those} run again.`,
    verb: verb === "cancel" ? "Cancel jobs" : "Retry jobs",
    danger: verb === "cancel",
    run: async () => {
      const { changed } = await post(`/batches/${encodeURIComponent(id)}/${verb}`, {});
      toast(`${plural(changed, "job")} ${verb === "cancel" ? "cancelled" : "retried"}.`, { kind: "good" });
      reload();
    },
  });
}
