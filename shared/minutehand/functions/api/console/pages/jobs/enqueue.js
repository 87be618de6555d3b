// The form that enqueues a job.
import { html, useState } from "../../app/html.js";
import { request } from "../../app/api.js";
import { close, Dialog } from "../../app/dialog.js";
import { reload } from "../../app/live.js";
import { jobLink } from "../../app/router.js";
import { isoDuration } from "../../app/time.js";
import { toast } from "../../app/toasts.js";

export function Enqueue() {
  const [problem, setProblem] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    try {
      const { id } = await request("/jobs", { method: "POST", body: bodyOf(new FormData(event.target)) });
      close();
      toast("The job was enqueued.", { link: { href: jobLink(id), text: "Open it" } });
      reload();
    } catch (error) { setProblem(error.message); }
  };
  return html`<${Dialog} title="Enqueue a job">
    <form onSubmit=${submit}>
      <label>Kind <input name="kind" required placeholder="mail.send" autofocus /></label>
      <label>Payload <textarea name="payload" rows="5" spellcheck="false" placeholder='{"to": "ada@example.com"}'></textarea></label>
      <div class="pair">
        <label>Queue <input name="queue" placeholder="default" /></label>
        <label>Key <input name="key" /></label>
        <label>Delay <input name="delay" placeholder="10m" /></label>
      </div>
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="actions"><button type="button" onClick=${close}>Close</button><button class="first">Enqueue</button></div>
    </form>
  <//>`;
}

// The payload is sent as it was typed, because JavaScript would round its numbers.
function bodyOf(form) {
  const { payload = "", ...job } = Object.fromEntries([...form].filter(([, value]) => value.trim()));
  if (job.delay) job.delay = isoDuration(job.delay);
  const rest = JSON.stringify(job);
  if (!payload) return rest;
  try { JSON.parse(payload); } catch { throw new Error("The payload must be valid JSON."); }
  return `${rest.slice(0, -1)},"payload":${payload}}`;
}
