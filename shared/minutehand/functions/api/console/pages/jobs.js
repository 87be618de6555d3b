// Jobs: lists, filters and changes them. Filters and the place in the list are in the URL.
import { html } from "../app/html.js";
import { request } from "../app/api.js";
import { open } from "../app/dialog.js";
import { useLive } from "../app/live.js";
import { useOperator } from "../app/role.js";
import { jobLink, link, setQuery } from "../app/router.js";
import { Table, useSelection } from "../app/table.js";
import { Time } from "../app/time.js";
import { count, Empty, Fault, Page, SHORT_ID, Skeleton, State } from "../app/ui.js";
import { BulkActions } from "./jobs/bulk.js";
import { Enqueue } from "./jobs/enqueue.js";
import { Filters } from "./jobs/filters.js";
import { States } from "./jobs/states.js";

const PAGE = 50;
// Jobs that wait for others are visible at that time.
const WAITS = "9999-12-30";
const CURSORS = ["before", "after", "page"];

export default function Jobs({ query }) {
  const operator = useOperator();
  const text = query.toString();
  const page = useLive((signal) => request(`/jobs?${pageQuery(query)}`, { signal }), [text]);
  const selection = useSelection([text]);
  const rows = page.data?.jobs ?? [];
  return html`<${Page} title="Jobs" actions=${operator && html`
      <button class="first" onClick=${() => open(Enqueue)}>Enqueue a job</button>`}>
    <${Paused} />
    <${Filters} query=${query} />
    <${States} query=${query} />
    <${Fault} error=${page.error} />
    ${operator && html`<${BulkActions} selection=${selection} rows=${rows} query=${query} page=${page.data} />`}
    ${!page.data && !page.error && html`<${Skeleton} rows=${8} />`}
    ${page.data && (rows.length
      ? html`<${Table} label="Jobs" columns=${COLUMNS} rows=${rows} rowLink=${({ id }) => jobLink(id)}
          selection=${operator ? selection : null} busy=${page.stale} />`
      : html`<${NoJobs} filtered=${text !== ""} />`)}
    ${page.data?.stopped && html`<p class="hint">The search read ${count(page.data.read)} jobs so far. Older ones are searched on the next page.</p>`}
    <${Pager} page=${page.data} />
  <//>`;
}

const COLUMNS = [
  { title: "State", cell: ({ state }) => html`<${State} state=${state} />` },
  { title: "Job", kind: "main", cell: ({ id, kind, key }) => html`<a href=${jobLink(id)}>${kind}</a>
    <small>${key ?? html`<span class="mono">${id.slice(-SHORT_ID)}</span>`}</small>` },
  { title: "Queue", kind: "plain", cell: ({ queue }) => queue },
  { title: "Attempts", kind: "number", cell: ({ attempts, max_attempts }) => `${attempts} / ${max_attempts}` },
  { title: "When", kind: "when", clear: true, cell: (job) => html`<${Time} at=${momentOf(job)} />` },
  { title: "Error", kind: "long", cell: ({ error }) => error && html`<span>${error.type}: ${error.message}</span>` },
];

// Since when a job is in its state, or when it is due.
function momentOf({ state, deleted, run_at: runAt, visible, offered, claimed }) {
  return deleted ?? { running: claimed, offered }[state] ?? (visible < WAITS ? visible : runAt);
}

function pageQuery(query) {
  const asked = new URLSearchParams(query);
  asked.set("limit", PAGE);
  // A filter that few jobs match would read all of them.
  const forward = !query.has("after") && query.get("page") !== "last";
  if (forward && [...query.keys()].some((name) => !CURSORS.includes(name))) asked.set("bounded", true);
  return asked;
}

function NoJobs({ filtered }) {
  if (filtered) return html`<${Empty} title="No jobs match these filters"><a href=${link("jobs")}>Clear the filters</a><//>`;
  return html`<${Empty} title="No jobs yet" command=${`minutehand enqueue welcome '{"name": "Ada"}'`}>
    Enqueue one in your code, here, or on the command line:<//>`;
}

// The pages are read by cursors, so that each of them is as fast as the first.
function Pager({ page }) {
  if (!page || (!page.next && !page.previous)) return null;
  const none = Object.fromEntries(CURSORS.map((name) => [name, null]));
  const step = (name, cursor) => () => { setQuery({ ...none, [name]: cursor }); scrollTo(0, 0); };
  return html`<nav class="pager" aria-label="Pages of jobs">
    <button disabled=${!page.previous} onClick=${() => setQuery(none)}>Newest</button>
    <button disabled=${!page.previous} onClick=${step("after", page.after)}>Newer</button>
    <button disabled=${!page.next} onClick=${step("before", page.before)}>Older</button>
  </nav>`;
}

function Paused() {
  const { data } = useLive((signal) => request("/stats?queue=default&limit=1", { signal }), [], 30_000);
  const paused = data?.paused;
  return paused && html`<p class="banner" role="status">All jobs are paused${paused.until && html` until <${Time} at=${paused.until} exact />`}${paused.reason ? `: ${paused.reason}` : "."}</p>`;
}
