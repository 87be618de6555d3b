// Markup of templates. Names and messages may contain characters that change the direction of the text around them, or that
// control a terminal: every page shows them escaped, as the command line does. Inputs and copies have the text as it is.
import { html as markup } from "../vendor/preact.js";

export * from "../vendor/preact.js";

// Marks, embeddings, overrides and isolates of bidirectional text, and controls except tabs and line ends.
const CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
// Attributes that are read, with the equals sign before a value.
const READ = /\s(?:title|label|aria-label)=$/;

export const visible = (value) => {
  if (Array.isArray(value)) return value.map(visible);
  return typeof value === "string" ? value.replace(CONTROLS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`) : value;
};

export const html = (parts, ...values) =>
  markup(parts, ...values.map((value, at) => (parts[at].endsWith("=") && !READ.test(parts[at]) ? value : visible(value))));
