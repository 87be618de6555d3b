// Occurrences in the schedule's time zone and in the reader's.
import { html } from "../../app/html.js";
import { Table } from "../../app/table.js";
import { Time, withOffset, zone, zoneChoice } from "../../app/time.js";

export function Occurrences({ occurrences, of }) {
  zoneChoice.use();
  const own = zone();
  if (!occurrences.length) return html`<p class="soft">It does not occur again.</p>`;
  const columns = [
    { title: of, kind: "plain", cell: ({ utc, local }) => at(utc, of) ?? local },
    ...(own === of ? [] : [{ title: own, kind: "plain", cell: ({ utc }) => at(utc, own) }]),
    { title: "In", kind: "when", clear: true, cell: ({ utc }) => html`<${Time} at=${utc} />` },
  ];
  return html`<${Table} label="Next occurrences" rows=${occurrences} rowKey=${({ utc }) => utc} columns=${columns} />`;
}

// Null if the browser does not know the time zone.
function at(utc, timeZone) {
  try { return withOffset(utc, timeZone, { seconds: false }); } catch { return null; }
}
