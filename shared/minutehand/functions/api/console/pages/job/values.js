// Payload, headers and result: only on request, because they may be personal.
import { html, useEffect, useState } from "../../app/html.js";
import { request } from "../../app/api.js";
import { toastError } from "../../app/toasts.js";
import { Copy, Panel } from "../../app/ui.js";

const SHOWN = 100_000;

export function Values({ job }) {
  const [values, setValues] = useState(null);
  useEffect(() => setValues(null), [job.id]);
  const show = () => request(`/jobs/${job.id}?include=payload`, { exact: true }).then(setValues, toastError);
  if (!values) {
    return html`<${Panel} title="Payload and result" actions=${html`<button onClick=${show}>Show payload and result</button>`}>
      <p class="soft">They may contain personal data, and are loaded only on request.</p><//>`;
  }
  const shown = { payload: values.payload, headers: values.headers, result: values.result, "on dead": values.on_dead };
  return html`<${Panel} title="Payload and result" actions=${html`<button onClick=${() => setValues(null)}>Hide</button>`}>
    <div class="values">
      ${Object.entries(shown).filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => html`<${Value} name=${name} text=${JSON.stringify(value, null, 2)} />`)}
      ${values.error?.trace && html`<${Value} name="trace" text=${values.error.trace} />`}
    </div>
  <//>`;
}

// A browser cannot lay out megabytes of text quickly.
function Value({ name, text }) {
  const [whole, setWhole] = useState(false);
  const cut = !whole && text.length > SHOWN;
  return html`<h3>${name} <${Copy} text=${text} label=${`Copy the ${name}`} /></h3>
    <pre tabindex="0" aria-label=${name} dir="auto">${cut ? text.slice(0, SHOWN) : text}</pre>
    ${cut && html`<button onClick=${() => setWhole(true)}>Show all ${text.length.toLocaleString("en")} characters</button>`}`;
}
