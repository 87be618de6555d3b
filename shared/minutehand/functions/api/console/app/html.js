// Markup of templates. Names and messages may contain characters that change the direction of the text around them, or that
// control a terminal: every page shows them escaped, as the command line does. Inputs and copies have the text as it is.
import { html as markup } from "../vendor/preact.js";

export * from "../vendor/preact.js";

// Marks, embeddings, overrides and isolates of bidirectional text, controls except tabs and line ends, and characters without a width
// that make different names look alike. Joiners remain, because emoji and several scripts need them.
const CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u180e\u200b\u2028\u2029\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
// Attributes that are read, with the equals sign before a value.
const READ = /\s(?:title|label|aria-label)=$/;

const escaped = (one) => {
  const code = one.codePointAt(0).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
};

export const visible = (value) => {
  if (Array.isArray(value)) return value.map(visible);
  return typeof value === "string" ? value.replace(CONTROLS, escaped) : value;
};

export const html = (parts, ...values) =>
  markup(parts, ...values.map((value, at) => (parts[at].endsWith("=") && !READ.test(parts[at]) ? value : visible(value))));
