// The form that edits a job that has not started.
import { html } from "../../app/html.js";
import { request } from "../../app/api.js";
import { confirm } from "../../app/dialog.js";
import { reload } from "../../app/live.js";
import { toast, toastError } from "../../app/toasts.js";

export async function edit({ id }) {
  let job;
  try { job = await request(`/jobs/${id}?include=payload`, { exact: true }); } catch (error) { toastError(error); return; }
  const payload = JSON.stringify(job.payload, null, 2);
  confirm({
    title: "Edit this job",
    text: "The change is recorded in the audit trail. A job that has started cannot be edited.",
    verb: "Save",
    fields: html`
      <label>Payload <textarea name="payload" rows="10" spellcheck="false" dir="auto" value=${payload}></textarea></label>
      <div class="pair">
        <label>Priority <input name="priority" type="number" min="0" max="9" value=${job.priority} /></label>
        <label>Attempts at most <input name="max_attempts" type="number" min="1" value=${job.max_attempts} /></label>
      </div>`,
    run: async (fields) => {
      const body = changes(job, payload, fields);
      if (!body) return;
      await request(`/jobs/${id}`, { method: "PATCH", body });
      toast("The job was changed.");
      reload();
    },
  });
}

// The payload is sent as it was typed, because JavaScript would round its numbers.
function changes(job, before, { payload, priority, max_attempts: attempts }) {
  const options = {};
  if (Number(priority) !== job.priority) options.priority = Number(priority);
  if (Number(attempts) !== job.max_attempts) options.max_attempts = Number(attempts);
  const parts = Object.entries(options).map(([name, value]) => `"${name}":${value}`);
  if (payload !== before) {
    try { JSON.parse(payload); } catch { throw new Error("The payload must be valid JSON."); }
    parts.push(`"payload":${payload}`);
  }
  return parts.length ? `{${parts.join(",")}}` : null;
}
