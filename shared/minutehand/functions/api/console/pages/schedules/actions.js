// The changes of a schedule. One that was installed from code is edited there.
import { html } from "../../app/html.js";
import { post, Problem, request } from "../../app/api.js";
import { open } from "../../app/dialog.js";
import { reload } from "../../app/live.js";
import { caller } from "../../app/role.js";
import { go, jobLink } from "../../app/router.js";
import { toast, toastError } from "../../app/toasts.js";
import { Form } from "./form.js";

export const isOwn = ({ tenant }) => tenant === (caller.get().tenant ?? "");
const pathOf = (name) => `/schedules/${encodeURIComponent(name)}`;

// By a parameter: the path of a name that ends with /firings is that of other firings.
export async function find(name, query = "", options = {}) {
  const { schedules: [found] } = await request(`/schedules?name=${encodeURIComponent(name)}${query}`, options);
  if (!found) throw new Problem(`There is no schedule ${name}.`, 404);
  return found;
}

export function Actions({ schedule }) {
  const toggle = schedule.paused ? "resume" : "pause";
  return html`<button onClick=${() => change(schedule, toggle)}>${toggle === "pause" ? "Pause" : "Resume"}</button>
    <button onClick=${() => change(schedule, "run")}>Run now</button>
    ${!schedule.source && html`<button onClick=${() => edit(schedule)}>Edit</button>`}`;
}

async function change({ name }, verb) {
  try {
    const result = await post(`${pathOf(name)}/${verb}`);
    if (verb === "run") go(jobLink(result.id));
    else toast(`The schedule ${name} was ${verb}d.`);
    reload();
  } catch (error) { toastError(error); }
}

// A change replaces the schedule as a whole, so its payload must keep every digit.
async function edit({ name }) {
  if (!JSON.rawJSON) { toast("This browser would round large numbers of the payload. Use: minutehand schedules put", { kind: "bad" }); return; }
  try {
    const schedule = await find(name, "&include=payload", { exact: true });
    open(() => html`<${Form} schedule=${schedule} />`);
  } catch (error) { toastError(error); }
}
