// The attempts at a job, with their errors, and on request their traces.
import { html, useEffect, useState } from "../../app/html.js";
import { request } from "../../app/api.js";
import { caller } from "../../app/role.js";
import { between, Time } from "../../app/time.js";
import { toastError } from "../../app/toasts.js";
import { Copy, ErrorText, Panel, State } from "../../app/ui.js";

const SHOWN = 20;

export function Attempts({ id, attempts }) {
  const [full, setFull] = useState(null);
  const [all, setAll] = useState(false);
  // Another attempt has no trace yet.
  useEffect(() => setFull(null), [attempts.length]);
  if (!attempts.length) return null;
  const unmask = () => request(`/jobs/${id}/attempts?include=payload`).then((found) => setFull(found.attempts), toastError);
  const shown = (full ?? attempts).slice(all ? 0 : -SHOWN).reverse();
  return html`<${Panel} title="Attempts" actions=${!full && attempts.some(({ error }) => error) && html`
      <button onClick=${unmask}>Show traces</button>`}>
    <ol class="attempts">${shown.map((attempt) => html`<${Attempt} key=${attempt.attempt} attempt=${attempt} />`)}</ol>
    ${shown.length < attempts.length && html`<button onClick=${() => setAll(true)}>Show all ${attempts.length}</button>`}
  <//>`;
}

function Attempt({ attempt: { attempt, outcome, started, ended, error, result, worker, request: id, version, memory_mb: memory } }) {
  const logs = logLink({ worker, request: id, started, ended });
  return html`<li>
    <header><strong>Attempt ${attempt}</strong> <${State} state=${outcome} />
      <span class="soft"><${Time} at=${started} /> · took ${between(started, ended)}</span></header>
    ${error && html`<${ErrorText} error=${error} />`}
    ${error?.trace && html`<details open><summary>Trace</summary><${Copy} text=${error.trace} label="Copy the trace" /><pre tabindex="0">${error.trace}</pre></details>`}
    ${result !== null && result !== undefined && html`<pre tabindex="0">${JSON.stringify(result, null, 2)}</pre>`}
    <p class="soft small">${[worker, version && `version ${version}`, memory && `${memory} MB`, id && `request ${id}`].filter(Boolean).join(" · ")}
      ${logs && html` · <a href=${logs} target="_blank" rel="noreferrer">Logs in CloudWatch</a>`}</p>
  </li>`;
}

// The region of a local run, whose log is not in CloudWatch.
const LOCAL = "local";

// CloudWatch writes * instead of %. Unescaped, the marks that encodeURIComponent leaves would end the text.
const escape = (text) => encodeURIComponent(text).replace(/[!'()*~]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`).replaceAll("%", "*");

export function logLink({ worker, request: id, started, ended }) {
  const { region } = caller.get();
  if (!region || region === LOCAL || !worker || !id) return null;
  const query = `fields @timestamp, @message | filter @requestId = "${id}" or @message like "${id}" | sort @timestamp`;
  const moment = (at, minutes) => escape(new Date(Date.parse(at) + minutes * 60_000).toISOString());
  const detail = `~(end~'${moment(ended, 5)}~start~'${moment(started, -5)}~timeType~'ABSOLUTE~tz~'UTC~editorString~'${escape(query)}~source~(~'${escape(`/aws/lambda/${worker}`)}))`;
  return `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#logsV2:logs-insights$3FqueryDetail$3D${detail.replaceAll("*", "$2A")}`;
}
