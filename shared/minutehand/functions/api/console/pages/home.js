// Home: what needs attention, throughput and waits over a window, and the queues. Each number links to its jobs.
import { html } from "../app/html.js";
import { request } from "../app/api.js";
import { useLive } from "../app/live.js";
import { link } from "../app/router.js";
import { Table } from "../app/table.js";
import { duration } from "../app/time.js";
import { atLeast, byName, count, Counted, Empty, Fault, Page, Panel, Skeleton } from "../app/ui.js";
import { Attention } from "./home/attention.js";
import { Throughput, Waits } from "./home/charts.js";

const WINDOWS = { "1h": "1 hour", "24h": "24 hours", "7d": "7 days" };
const SHOWN = ["scheduled", "due", "offered", "running", "retrying", "dead"];
const EVERY_MS = 15_000;
const HISTORY_MS = 30_000;
const QUEUES = 50;

export default function Home({ query }) {
  const chosen = Object.hasOwn(WINDOWS, query.get("window") ?? "") ? query.get("window") : "24h";
  const stats = useLive((signal) => request("/stats?limit=1000", { signal }), [], EVERY_MS);
  const history = useLive((signal) => request(`/stats/history?window=${chosen}`, { signal }), [chosen], HISTORY_MS);
  const queues = stats.data && byQueue(stats.data.depths);
  return html`<${Page} title="Home" actions=${html`<${Window} chosen=${chosen} />`}>
    <${Fault} error=${stats.error ?? history.error} />
    <${Attention} />
    ${history.data ? html`<${Tiles} history=${history.data} depths=${stats.data?.depths ?? []} title=${WINDOWS[chosen]} />
        <div class="charts" aria-busy=${history.stale}><${Throughput} history=${history.data} /><${Waits} history=${history.data} /></div>`
      : !history.error && html`<${Skeleton} />`}
    ${queues && history.data && (queues.length
      ? html`<${Panel} title="Queues"><${Table} label="Queues" columns=${COLUMNS} rows=${queues.slice(0, QUEUES)} rowKey=${({ queue }) => queue} /><//>`
      : !history.data.bins.some(({ enqueued, done }) => enqueued + done) && html`<${Empty} title="No jobs yet" command="minutehand enqueue welcome">Enqueue one in your code, or on the command line:<//>`)}
  <//>`;
}

const Window = ({ chosen }) => html`<nav class="segments" aria-label="Window">
  ${Object.entries(WINDOWS).map(([name, title]) => html`<a href=${link("", { window: name })} aria-current=${name === chosen ? "true" : null}>${title}</a>`)}
</nav>`;

function Tiles({ history: { since, until, bins, wait }, depths, title }) {
  const total = (name) => bins.reduce((sum, bin) => sum + bin[name], 0);
  const now = (state) => atLeast(depths.filter((depth) => depth.state === state)
    .reduce((sum, { jobs, more }) => ({ jobs: sum.jobs + jobs, more: sum.more || more }), { jobs: 0, more: false }));
  const finished = { finished_since: since, finished_until: until };
  return html`<ul class="tiles">
    <${Tile} name="Due now" value=${now("due")} to=${{ state: "due" }} />
    <${Tile} name="Running now" value=${now("running")} to=${{ state: "running" }} />
    <${Tile} name=${`Done in ${title}`} value=${count(total("done"))} to=${{ state: "done", ...finished }} />
    <${Tile} name=${`Dead in ${title}`} value=${count(total("dead"))} to=${{ state: "dead", ...finished }} bad=${total("dead") > 0} />
    <${Tile} name="Wait, 95% within" value=${wait ? duration(wait.p95) : "–"} to=${{ state: ["done", "dead"], ...finished }} />
  </ul>`;
}

const Tile = ({ name, value, to, bad }) => html`<li><a class=${bad ? "bad" : ""} href=${link("jobs", to)}><span>${name}</span><b>${value}</b></a></li>`;

const COLUMNS = [
  { title: "Queue", kind: "main", cell: ({ queue }) => html`<a href=${link("jobs", { queue })}>${queue}</a>` },
  ...SHOWN.map((state) => ({ title: state, kind: "number", cell: ({ queue, counts }) => html`<${Counted} number=${counts[state]} to=${link("jobs", { queue, state })} />` })),
];

function byQueue(depths) {
  const queues = new Map();
  for (const { queue, state, jobs, more } of depths) {
    if (!queues.has(queue)) queues.set(queue, { queue, counts: {} });
    queues.get(queue).counts[state] = { jobs, more };
  }
  const busy = ({ counts }) => ["due", "running", "retrying"].reduce((sum, state) => sum + (counts[state]?.jobs ?? 0), 0);
  return [...queues.values()].sort((a, b) => busy(b) - busy(a) || byName(a.queue, b.queue));
}
