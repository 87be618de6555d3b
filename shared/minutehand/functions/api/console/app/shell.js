// The frame around every page: navigation, sign-in, theme, time zone, live updates and shortcuts.
import { html, useEffect, useErrorBoundary, useState } from "./html.js";
import { onThisMachine, setToken, signIn } from "./api.js";
import { Dialog, Dialogs } from "./dialog.js";
import { showKeys, useKeys } from "./keys.js";
import { live, reload } from "./live.js";
import { caller, loadCaller } from "./role.js";
import { go, link, match, useRoute } from "./router.js";
import { routes } from "./routes.js";
import { store } from "./store.js";
import { theme } from "./theme.js";
import { ownZone, zoneChoice } from "./time.js";
import { Toasts } from "./toasts.js";
import { Empty, Icon, Page } from "./ui.js";

const menu = store(false);

export function Shell() {
  const { path } = useRoute();
  const found = match(routes, path);
  useEffect(() => { menu.set(false); }, [path]);
  useEffect(() => { loadCaller(); }, [signIn.use()]);
  useKeys([
    { keys: "?", text: "Show the shortcuts", run: showKeys },
    { keys: "r", text: "Refresh", run: reload },
    { keys: "t", text: "Change the theme", run: theme.next },
    ...routes.filter(({ key }) => key).map(({ key, title, path }) =>
      ({ keys: `g ${key}`, text: `Go to ${title}`, run: () => go(link(path)) })),
  ]);
  return html`<a class="skip" href="#content">Skip to the content</a>
    <${Sidebar} current=${found?.under ?? found?.path} />
    <main id="content">${found ? html`<${Lazy} key=${path} route=${found} />` : html`<${Missing} />`}</main>
    <${Dialogs} /><${SignIn} /><${Toasts} />`;
}

function Sidebar({ current }) {
  const open = menu.use();
  return html`<header class="sidebar ${open ? "open" : ""}">
    <div class="brand">
      <a href=${link()}><svg viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="13" /><path d="M16 16V7M16 16l6 4" /></svg>minutehand</a>
      <button class="menu quiet" aria-expanded=${open} aria-controls="nav" aria-label="Menu" onClick=${() => menu.set(!open)}><${Icon} name="menu" /></button>
    </div>
    <nav id="nav" aria-label="Pages">
      ${routes.filter(({ icon }) => icon).map(({ path, title, icon }) => html`
        <a href=${link(path)} aria-current=${path === current ? "page" : null}><${Icon} name=${icon} />${title}</a>`)}
    </nav>
    <${Preferences} />
  </header>`;
}

function Preferences() {
  const [isLive, mode, zone, { actor, tenant, role }] = [live.use(), theme.use(), zoneChoice.use(), caller.use()];
  return html`<div class="preferences">
    <button class="quiet live ${isLive ? "on" : ""}" aria-pressed=${isLive} onClick=${() => live.set(!isLive)}>
      <span class="dot"></span>${isLive ? "Live" : "Paused"}</button>
    <button class="quiet" onClick=${zoneChoice.next} title="Change the time zone"><${Icon} name="clock" />${zone === "utc" ? "UTC" : ownZone}</button>
    <button class="quiet" onClick=${theme.next} title="Change the theme"><${Icon} name=${mode} />${{ auto: "System", light: "Light", dark: "Dark" }[mode]} theme</button>
    <button class="quiet" onClick=${showKeys}><kbd>?</kbd> Shortcuts</button>
    ${actor && html`<p class="caller">${actor}${tenant && ` · ${tenant}`}${role === "reader" && " · read-only"}</p>`}
  </div>`;
}

// Loads the module of a page with its first visit.
function Lazy({ route }) {
  const { query } = useRoute();
  const [view, setView] = useState(null);
  const [fault] = useErrorBoundary();
  useEffect(() => {
    route.load().then((module) => setView(() => module.default), () => setView(() => Outdated));
  }, []);
  if (fault) return html`<${Broken} fault=${fault} />`;
  return view && html`<${view} params=${route.params} query=${query} />`;
}

const Missing = () => html`<${Page} title="Page not found">
  <${Empty} title="There is no page at this address"><a href=${link()}>Go to Home</a><//><//>`;
const Outdated = () => html`<${Page} title="Reload the page">
  <${Empty} title="The console was updated, or the API cannot be reached">
    <button class="first" onClick=${() => location.reload()}>Reload</button><//><//>`;
const Broken = ({ fault }) => html`<${Page} title="The page cannot be shown">
  <${Empty} title="This is a defect of the console"><code>${String(fault)}</code><//><//>`;

// A browser closes a dialog at the second Escape in any case.
const stay = (event) => (event.type === "close" ? event.target.showModal() : event.preventDefault());

function SignIn() {
  const reason = signIn.use();
  if (!reason) return null;
  const submit = (event) => {
    event.preventDefault();
    setToken(new FormData(event.target).get("token"));
  };
  return html`<${Dialog} title="Sign in" onClose=${stay}>
    <form onSubmit=${submit}>
      ${reason.rejected && html`<p class="problem" role="alert">The API rejected the token. If it is the session of minutehand console, open the address that this command printed last.</p>`}
      ${!reason.rejected && onThisMachine && html`<p>If you use <code>minutehand console</code>, open the address that this command printed. It contains your session, and there is no API token.</p>`}
      <label>API token <input name="token" type="password" autocomplete="off" required autofocus /></label>
      <p class="hint">The token is kept until you close this tab.</p>
      <div class="actions"><button class="first">Sign in</button></div>
    </form>
  <//>`;
}
