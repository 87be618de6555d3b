// The form that adds or edits a schedule, with a preview of its next occurrences in two time zones. Its fields
// keep what is typed: drawing the form again would reset them.
import { html, useEffect, useState } from "../../app/html.js";
import { post, request } from "../../app/api.js";
import { close, Dialog } from "../../app/dialog.js";
import { reload } from "../../app/live.js";
import { ownZone } from "../../app/time.js";
import { toast } from "../../app/toasts.js";
import { Occurrences } from "./occurrences.js";

const SHOWN = 5;
const TYPING_MS = 300;
// What the form does not show stays as it is.
const STORED = ["starts", "ends", "jitter", "ahead", "catch_up", "max_catch_up", "overlap"];

export function Form({ schedule = null }) {
  const [{ every, zone, kind, payload }, setFields] = useState(() => fieldsOf(schedule));
  const [problem, setProblem] = useState("");
  const merge = ({ target: { name, value } }) => setFields((last) => ({ ...last, [name]: value }));
  const submit = async (event) => {
    event.preventDefault();
    try {
      await save(schedule, Object.fromEntries(new FormData(event.target)));
      close();
      toast(schedule ? "The schedule was changed." : "The schedule was added.");
      reload();
    } catch (error) { setProblem(error.message); }
  };
  return html`<${Dialog} wide title=${schedule ? `Edit ${schedule.name}` : "Add a schedule"}>
    <form onSubmit=${submit}>
      ${!schedule && html`<label>Name <input name="name" required maxlength="200" /></label>`}
      <div class="pair">
        <label>Kind <input name="kind" required placeholder="report.build" value=${kind} onInput=${merge} /></label>
        <label>Every <input name="every" required spellcheck="false" value=${every} onInput=${merge} />
          <span class="hint">cron, such as 0 8 * * mon, @daily, or PT15M</span></label>
        <label>Time zone <input name="zone" value=${zone} onInput=${merge} placeholder="UTC" /></label>
      </div>
      <${Preview} recurrence=${{ every, zone, starts: schedule?.starts, ends: schedule?.ends }} />
      <label>Payload <textarea name="payload" rows="5" spellcheck="false" dir="auto" value=${payload} onInput=${merge}></textarea></label>
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="actions"><button type="button" onClick=${close}>Keep as is</button><button class="first">Save</button></div>
    </form>
  <//>`;
}

// The occurrences of what was typed, when typing stops.
function Preview({ recurrence }) {
  const { every, zone, starts, ends } = recurrence;
  const [found, setFound] = useState({});
  useEffect(() => {
    let current = true;
    const timer = setTimeout(async () => {
      const body = { every, zone: zone || null, starts: starts ?? null, ends: ends ?? null, n: SHOWN };
      const next = await post("/schedules/preview", body).then((data) => ({ data }), (error) => ({ error }));
      if (current) setFound(next);
    }, TYPING_MS);
    return () => { current = false; clearTimeout(timer); };
  }, [every, zone]);
  return html`<div class="preview" aria-live="polite">
    ${found.error ? html`<p>${found.error.message}</p>` : found.data && html`<${Occurrences} occurrences=${found.data.occurrences} of=${zone || "UTC"} />`}
  </div>`;
}

const fieldsOf = (schedule) => ({
  every: schedule?.every ?? "0 8 * * mon-fri", zone: schedule?.zone ?? ownZone, kind: schedule?.job.kind ?? "",
  payload: schedule?.job.payload === undefined ? "" : JSON.stringify(schedule.job.payload, null, 2),
});

async function save(schedule, { name, kind, every, zone, payload = "" }) {
  const { payload: _, ...job } = schedule?.job ?? {};
  const rest = Object.fromEntries(STORED.filter((field) => schedule && schedule[field] !== null).map((field) => [field, schedule[field]]));
  try { JSON.parse(payload || "null"); } catch { throw new Error("The payload must be valid JSON."); }
  const recurrence = JSON.stringify({ ...rest, every, zone: zone || null });
  // The payload is sent as it was typed, because JavaScript would round its numbers.
  const options = JSON.stringify({ ...job, kind });
  const body = `${recurrence.slice(0, -1)},"job":${payload ? `${options.slice(0, -1)},"payload":${payload}}` : options}}`;
  await request(`/schedules/${encodeURIComponent(name ?? schedule.name)}`, { method: "PUT", body });
}
