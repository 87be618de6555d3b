// The changes of one job that its state allows.
import { html } from "../../app/html.js";
import { post } from "../../app/api.js";
import { confirm } from "../../app/dialog.js";
import { reload } from "../../app/live.js";
import { go, jobLink } from "../../app/router.js";
import { toast } from "../../app/toasts.js";
import { UPCOMING } from "../../app/ui.js";
import { edit } from "./edit.js";
import { VERBS } from "./verbs.js";

export function Actions({ job }) {
  const allowed = VERBS.filter(({ states }) => states.includes(job.state));
  return html`${UPCOMING.includes(job.state) && html`<button onClick=${() => edit(job)}>Edit</button>`}
    ${allowed.map((verb, at) => html`<button class=${verb.danger ? "danger" : at === 0 ? "first" : ""} onClick=${() => ask(verb, job)}>${verb.title}</button>`)}`;
}

function ask(verb, job) {
  confirm({
    title: `${verb.title} this job?`,
    text: `${verb.meaning} ${verb.running ?? ""}`,
    verb: verb.title,
    danger: verb.danger,
    fields: verb.fields?.(),
    run: async (fields) => {
      const changed = await post(`/jobs/${job.id}/${verb.name}`, verb.body?.(fields) ?? {});
      toast(`The job was ${verb.name === "cancel" && job.state === "running" ? "asked to stop" : verb.past}.`);
      reload();
      if (changed.id !== job.id) go(jobLink(changed.id));
    },
  });
}
