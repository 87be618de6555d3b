// Job: why it has not finished, its timeline and attempts, its values on request, and its changes.
import { html } from "../app/html.js";
import { request } from "../app/api.js";
import { useLive } from "../app/live.js";
import { useOperator } from "../app/role.js";
import { link } from "../app/router.js";
import { duration, ownZone, Time, zone, zoneChoice } from "../app/time.js";
import { Copy, ErrorText, Facts, Fault, Page, Panel, Skeleton, State, Step } from "../app/ui.js";
import { Actions } from "./job/actions.js";
import { Attempts } from "./job/attempts.js";
import { Timeline } from "./job/timeline.js";
import { Values } from "./job/values.js";

export default function Job({ params: { id } }) {
  const operator = useOperator();
  zoneChoice.use();
  const { data, error } = useLive((signal) => load(id, signal), [id, zone()]);
  const trail = html`<a href=${link("jobs")}>Jobs</a>`;
  if (!data) {
    return html`<${Page} title=${error ? "Job" : "…"} trail=${trail}>
      ${error ? html`<${Fault} error=${error} />` : html`<${Skeleton} />`}<//>`;
  }
  const { job, attempts, unclaimed, why } = data;
  return html`<${Page} title=${job.kind} trail=${html`${trail} / <a href=${link("jobs", { queue: job.queue })}>${job.queue}</a>`}
      state=${html`<${State} state=${job.state} />`} actions=${operator && html`<${Actions} job=${job} />`}>
    <p class="id"><code>${job.id}</code><${Copy} text=${job.id} label="Copy the id" /></p>
    <${Fault} error=${error} />
    ${why && html`<${Why} why=${why} />`}
    ${job.cancelling !== null && html`<p class="banner" role="status">Cancellation was requested: ${job.cancelling}. The job stops at its next check.</p>`}
    <div class="columns">
      <div>
        ${job.error && html`<${ErrorPanel} error=${job.error} />`}
        <${Panel} title="Timeline"><${Timeline} job=${job} attempts=${attempts} unclaimed=${unclaimed} /><//>
        <${Attempts} id=${id} attempts=${attempts} />
        <${Values} job=${job} />
      </div>
      <${Panel} title="Details"><${Facts} facts=${facts(job)} /><//>
    </div>
  <//>`;
}

async function load(id, signal) {
  const path = `/jobs/${encodeURIComponent(id)}`;
  const [job, { attempts, unclaimed }] = await Promise.all([request(path, { signal }), request(`${path}/attempts`, { signal })]);
  // Finished jobs need no explanation: their state, error and attempts are shown.
  const why = job.deleted ? null : await request(`${path}/why?zone=${encodeURIComponent(zone())}`, { signal });
  return { job, attempts, unclaimed, why };
}

const Why = ({ why: { sentence, next_step: step } }) => html`<section class="why" aria-label="Why it has not finished" role="status">
  <p>${sentence}</p>
  ${step && html`<${Step} text=${step} />`}
</section>`;

const ErrorPanel = ({ error }) => html`<${Panel} title=${error.stage ? `Error of the stage ${error.stage}` : "Latest error"} kind="error">
  <${ErrorText} error=${error} /><//>`;

function facts(job) {
  const filter = (name, value = job[name]) => value && html`<a href=${link("jobs", { [name]: value })}>${value}</a>`;
  return {
    queue: filter("queue"), kind: filter("kind"), key: filter("key"), group: filter("group"), tenant: job.tenant,
    batch: job.batch && html`<a href=${link("jobs", { batch: job.batch })}>${job.batch}</a>`,
    schedule: job.schedule && html`<a href=${link("schedules", { name: job.schedule })}>${job.schedule}</a>`,
    priority: filter("priority", String(job.priority)), attempts: `${job.attempts} of ${job.max_attempts}`,
    enqueued: html`<${Time} at=${job.enqueued} exact />`,
    "run at": html`<${Time} at=${job.run_at} exact />`,
    finished: job.deleted && html`<${Time} at=${job.deleted} exact />`,
    recurs: job.every && `${job.every} ${job.zone ?? ownZone}`,
    timeout: job.timeout && duration(job.timeout), expires: job.expires && `${duration(job.expires)} after run at`,
    retry: job.retry && retryText(job.retry),
    version: filter("version"), "correlation id": job.correlation_id,
  };
}

const retryText = ({ strategy, min, max }) => `${strategy}, ${duration(min)} to ${duration(max)}`;
