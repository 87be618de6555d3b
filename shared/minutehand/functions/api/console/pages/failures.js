// Failures: jobs that died or wait for another attempt, grouped by cause, with their trend and a retry of each group.
import { html } from "../app/html.js";
import { post, request } from "../app/api.js";
import { confirm } from "../app/dialog.js";
import { reload, useLive } from "../app/live.js";
import { useOperator } from "../app/role.js";
import { jobLink, link, setQuery } from "../app/router.js";
import { Table } from "../app/table.js";
import { Time } from "../app/time.js";
import { toast } from "../app/toasts.js";
import { count, Empty, Fault, Page, plural, SHORT_ID, Skeleton } from "../app/ui.js";

const WINDOWS = { "1h": "Last hour", "24h": "Last 24 hours", "7d": "Last 7 days" };
// Jobs of one request.
const AT_ONCE = 1000;
const AT_A_RATE = 10_000;
const CHART = { width: 96, height: 24 };

export default function Failures({ query }) {
  const operator = useOperator();
  const window = Object.hasOwn(WINDOWS, query.get("window") ?? "") ? query.get("window") : "24h";
  const { data, error } = useLive((signal) => request(`/failures?window=${window}`, { signal }), [window]);
  return html`<${Page} title="Failures" actions=${html`<${Windows} window=${window} />`}>
    <${Fault} error=${error} />
    ${!data && !error && html`<${Skeleton} />`}
    ${data && !data.complete && html`<p class="banner" role="status">Only the latest ${plural(data.read, "job")} were read; older ones may have failed too.</p>`}
    ${data && (data.groups.length
      ? html`<${Table} label="Failures by cause" rows=${data.groups} rowKey=${keyOf} columns=${[...COLUMNS, ...(operator ? [RETRY] : [])]} />`
      : html`<${Empty} title="No failures">No job died or is waiting for another attempt in this period.<//>`)}
  <//>`;
}

const keyOf = ({ queue, kind, cause }) => `${queue} ${kind} ${cause}`;

const Windows = ({ window }) => html`<label class="unseen" for="window">Time</label>
  <select id="window" value=${window} onChange=${(event) => setQuery({ window: event.target.value })}>
    ${Object.entries(WINDOWS).map(([name, title]) => html`<option value=${name} selected=${name === window}>${title}</option>`)}
  </select>`;

const COLUMNS = [
  { title: "Cause", kind: "main", cell: ({ cause, type, filter, message }) => html`<a href=${link("jobs", filter)}>${type}</a>
    <small title=${message}>${cause.slice(type.length + 2)}</small>` },
  { title: "Kind", kind: "plain", cell: ({ kind, queue }) => html`${kind} <small>${queue}</small>` },
  { title: "Jobs", kind: "number", cell: ({ jobs, dead, filter }) => html`<a href=${link("jobs", filter)}>${count(jobs)}</a>
    <small> ${dead ? `${count(dead)} dead` : "retrying"}</small>` },
  { title: "Trend", hidden: true, kind: "trend", cell: ({ trend }) => html`<${Trend} values=${trend} />` },
  { title: "Last", kind: "when", cell: ({ last, sample }) => html`<${Time} at=${last} /> <small><a class="mono" href=${jobLink(sample[0])}>${sample[0].slice(-SHORT_ID)}</a></small>` },
];

const RETRY = { title: "Changes", hidden: true, kind: "number", cell: (group) => group.dead > 0
  && html`<span class="actions"><button onClick=${() => retryAll(group)}>Retry all</button></span>` };

// Bars of the parts of the window; the highest is as high as the chart.
function Trend({ values }) {
  const most = Math.max(...values, 1);
  const width = CHART.width / values.length;
  return html`<svg width=${CHART.width} height=${CHART.height} viewBox="0 0 ${CHART.width} ${CHART.height}" role="img"
      aria-label=${`${plural(values.reduce((sum, value) => sum + value, 0), "failure")}, ${count(values.at(-1))} of them in the last part of the time`}>
    ${values.map((value, at) => value > 0 && html`<rect x=${at * width} width=${width - 1} fill="currentColor"
      y=${CHART.height * (1 - value / most)} height=${CHART.height * value / most} />`)}
  </svg>`;
}

function retryAll({ filter, type, kind }) {
  const asked = { verb: "retry", filter };
  confirm({
    title: `Retry the jobs of ${kind} that died of ${type}?`,
    text: "They run again with all their attempts, newest first.",
    verb: "Retry all",
    fields: html`<label>Jobs per minute <input name="per_minute" type="number" min="1" placeholder="all at once" /></label>`,
    preview: async () => {
      const { count: jobs, more } = await post("/jobs/matching", { ...asked, dry_run: true });
      return { count: jobs || more, view: `${more ? "At least " : ""}${plural(jobs, "job")} will be retried${more || jobs > AT_A_RATE ? `, at a rate the newest ${count(AT_A_RATE)} of them` : ""}.` };
    },
    run: async ({ per_minute }, progress) => {
      const { changed, left } = await retryUntilEnd({ ...asked, dry_run: false, ...(per_minute ? { per_minute: Number(per_minute) } : {}) }, progress);
      toast(`${plural(changed, "job")} retried${left ? `, ${left} left. Retry them when these have run` : ""}.`, { kind: left ? "bad" : "good" });
      reload();
    },
  });
}

// Each request changes a bounded number of jobs. A rate would begin again with each of them, so a slow retry is one request.
async function retryUntilEnd(asked, progress) {
  let changed = 0;
  let after = null;
  do {
    const result = await post("/jobs/matching", { ...asked, after, limit: asked.per_minute ? AT_A_RATE : AT_ONCE });
    changed += result.changed;
    after = result.after;
    progress(`${plural(changed, "job")} retried …`);
  } while (after && !asked.per_minute);
  return { changed, left: after ? await countLeft(asked) : "" };
}

async function countLeft({ verb, filter }) {
  const { count: jobs, more } = await post("/jobs/matching", { verb, filter, dry_run: true });
  return jobs || more ? `${more ? "at least " : ""}${count(jobs)}` : "";
}
