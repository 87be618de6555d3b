// The changes that an operator makes to jobs, the states that allow them, and their inputs.
import { html } from "../../app/html.js";
import { isoDuration } from "../../app/time.js";
import { FINISHED, UPCOMING } from "../../app/ui.js";

const reason = () => html`<label>Reason <input name="reason" maxlength="1000" placeholder="on request" /></label>`;
const time = () => html`<div class="pair">
  <label>At <input name="run_at" type="datetime-local" step="1" /><span class="hint">in your time zone</span></label>
  <label>or in <input name="delay" placeholder="10m" /><span class="hint">such as 90s, 2h30m or 3d</span></label>
</div>`;

export const VERBS = [
  { name: "retry", title: "Retry", past: "retried", states: ["dead", "expired", "cancelled"],
    meaning: "The job becomes due now, with a full set of attempts." },
  { name: "promote", title: "Run now", past: "made due", states: UPCOMING, meaning: "The job is due now." },
  { name: "reschedule", title: "Reschedule", past: "rescheduled", states: UPCOMING, meaning: "The job runs at another time.",
    fields: time, body: timeOf },
  { name: "replay", title: "Replay", past: "replayed", states: FINISHED,
    meaning: "A new job with the same payload runs now, with one attempt. The finished job stays as it is." },
  { name: "cancel", title: "Cancel", past: "cancelled", states: [...UPCOMING, "running"], danger: true, fields: reason, body: reasonOf,
    meaning: "The job ends as cancelled, and stays in the history.", running: "A running job is asked to stop at its next check." },
];

function timeOf({ run_at: at, delay }) {
  if (at) return { run_at: new Date(at).toISOString() };
  return { delay: delay.trim() ? isoDuration(delay) : "PT0S" };
}

// A change of all jobs that match leaves out running ones.
function reasonOf({ reason }, matching) {
  return { ...(matching ? {} : { running: true }), ...(reason.trim() ? { reason: reason.trim() } : {}) };
}
