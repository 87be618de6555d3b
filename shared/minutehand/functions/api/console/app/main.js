// Starts the console.
import { html, render } from "./html.js";
import "./theme.js";
import { startKeys } from "./keys.js";
import { startRouter } from "./router.js";
import { Shell } from "./shell.js";

startRouter();
startKeys();
render(html`<${Shell} />`, document.getElementById("app"));
