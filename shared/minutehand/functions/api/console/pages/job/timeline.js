// The timeline: enqueued, offered, each attempt, and the end, with the waits between them. Of the offers that workers claimed, a job
// has only the latest: the start of an earlier attempt is when a worker claimed its offer.
import { html } from "../../app/html.js";
import { now } from "../../app/api.js";
import { between, relative, Time, useNow } from "../../app/time.js";
import { plural } from "../../app/ui.js";

const SHOWN = 40;
const FAILED = new Set(["retrying", "dead", "lapsed", "expired"]);
const UNCLAIMED = {
  lapsed: (time) => `No worker claimed it within ${time}.`,
  refused: (time) => `The invitation of a worker was refused after ${time}.`,
  recalled: (time) => `A pause recalled it after ${time}.`,
};

export function Timeline({ job, attempts, unclaimed }) {
  useNow();
  const steps = stepsOf(job, attempts, unclaimed);
  const hidden = Math.max(0, steps.length - SHOWN);
  const shown = hidden ? [...steps.slice(0, SHOWN / 2), { kind: "gap", title: `${hidden} more` }, ...steps.slice(-SHOWN / 2)] : steps;
  return html`<ol class="timeline">
    ${shown.map((step, at) => html`<li class=${step.kind}>
      <div><strong>${step.title}</strong>${step.detail && html`<span>${step.detail}</span>`}</div>
      <div class="soft">${step.at && !step.untimed && html`<${Time} at=${step.at} exact />`}${wait(shown[at - 1], step)}</div>
    </li>`)}
  </ol>`;
}

function wait(before, step) {
  if (!step.at || step.untimed) return null;
  if (Date.parse(step.at) > now()) return html`<em>${relative(step.at)}</em>`;
  // The browser's times have milliseconds.
  if (!before?.at || Date.parse(step.at) <= Date.parse(before.at)) return html`<em></em>`;
  return html`<em>+${between(before.at, step.at)}</em>`;
}

export function stepsOf(job, attempts, unclaimed) {
  const steps = [{ at: job.enqueued, title: "Enqueued", kind: "done" }];
  if (Date.parse(job.run_at) - Date.parse(job.enqueued) > 1000) steps.push({ at: job.run_at, title: "Scheduled to run", kind: kindOf(job.run_at) });
  attempts.forEach((attempt) => steps.push(...attemptSteps(attempt)));
  steps.push(...unclaimedSteps(unclaimed), ...currentSteps(job, attempts));
  return steps.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

// The latest of them are stored; of the others, only the number.
function unclaimedSteps({ count: all, latest }) {
  const earlier = all - latest.length;
  return [
    ...(earlier > 0 ? [{ at: latest[0].offered, title: `${plural(earlier, "earlier offer")}, not claimed`, kind: "gap", untimed: true }] : []),
    ...latest.map(({ offered, ended, outcome }) => unclaimedStep(offered, ended, outcome)),
  ];
}

const unclaimedStep = (at, ended, outcome) => ({ at, title: "Offered, but not claimed", kind: "bad", detail: UNCLAIMED[outcome](between(at, ended)) });

function attemptSteps({ attempt, started, ended, outcome, error }) {
  return [
    { at: started, title: `Attempt ${attempt} started`, kind: "done" },
    { at: ended, title: `Attempt ${attempt} ${outcome === "retrying" ? "failed" : outcome}`, kind: FAILED.has(outcome) ? "bad" : "done",
      detail: error && html`${error.type}: ${error.message}` },
  ];
}

// The steps that no ended attempt records.
function currentSteps({ state, offered, claimed, visible, deleted, attempts }, ended) {
  const latest = ended.at(-1);
  const open = (at) => at && (!latest || Date.parse(at) > Date.parse(latest.ended));
  const steps = [];
  const over = state === "due" || (deleted && Date.parse(visible) <= Date.parse(deleted));
  const lapsed = over && offered && !(claimed && Date.parse(claimed) >= Date.parse(offered));
  if (offered) steps.push(lapsed ? unclaimedStep(offered, visible, "lapsed") : { at: offered, title: "Offered to a worker", kind: "done" });
  if (open(claimed) && state === "running") steps.push({ at: claimed, title: `Attempt ${attempts} started`, kind: "current" }, { at: visible, title: "End of the lease", kind: "future" });
  if (state === "retrying") steps.push({ at: visible, title: `Attempt ${attempts + 1}`, kind: kindOf(visible) });
  if (state === "due") steps.push({ at: visible, title: "Due", kind: "current" });
  if (state === "offered") steps.push({ at: visible, title: "The offer lapses", kind: "future" });
  if (deleted && latest?.ended !== deleted) steps.push({ at: deleted, title: `Finished: ${state}`, kind: state === "done" ? "done" : "bad" });
  return steps;
}

const kindOf = (at) => (Date.parse(at) > now() ? "future" : "done");
