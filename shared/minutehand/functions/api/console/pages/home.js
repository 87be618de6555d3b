// Home: an overview of the queues.
import { html } from "../vendor/preact.js";
import { request } from "../app/api.js";
import { useLive } from "../app/live.js";
import { link } from "../app/router.js";
import { Table } from "../app/table.js";
import { count, Empty, Fault, Page, Skeleton } from "../app/ui.js";

const SHOWN = ["due", "running", "retrying", "dead"];

export default function Home() {
  const { data, error } = useLive((signal) => request("/stats", { signal }));
  const queues = data && byQueue(data.depths);
  return html`<${Page} title="Home">
    <${Fault} error=${error} />
    ${!data && !error && html`<${Skeleton} />`}
    ${queues && (queues.length ? html`<${Table} label="Queues" columns=${COLUMNS} rows=${queues} rowKey=${({ queue }) => queue} />`
      : html`<${Empty} title="No jobs yet" command="minutehand enqueue welcome">Enqueue one in your code, or on the command line:<//>`)}
  <//>`;
}

const COLUMNS = [
  { title: "Queue", kind: "main", cell: ({ queue }) => html`<a href=${link("jobs", { queue })}>${queue}</a>` },
  ...SHOWN.map((state) => ({ title: state, kind: "number",
    cell: ({ queue, counts }) => html`<a href=${link("jobs", { queue, state })}>${count(counts[state] ?? 0)}</a>` })),
];

function byQueue(depths) {
  const queues = new Map();
  for (const { queue, state, jobs } of depths) {
    if (!queues.has(queue)) queues.set(queue, { queue, counts: {} });
    queues.get(queue).counts[state] = jobs;
  }
  return [...queues.values()].sort((a, b) => a.queue.localeCompare(b.queue));
}
