// A table whose rows are links. It becomes a list on a narrow screen. j and k move, Enter opens, x selects.
import { html, useEffect, useRef, useState } from "./html.js";
import { useKeys } from "./keys.js";
import { go } from "./router.js";

// columns: [{ title, cell: (row) => content, kind?: "number" | "long" | "main", hidden?: true if only for screen readers,
//   clear?: true if a narrow list needs no title before the content }]
export function Table({ label, columns, rows, rowLink, rowKey = (row) => row.id, selection, busy = false }) {
  const [active, setActive] = useState(-1);
  const body = useRef();
  // The next key may come before the table is drawn again.
  const place = useRef(-1);
  const current = () => rows[place.current];
  const move = (step) => {
    place.current = Math.max(0, Math.min(rows.length - 1, place.current + step));
    setActive(place.current);
  };
  useEffect(() => body.current?.children[active]?.scrollIntoView({ block: "nearest" }), [active]);
  useKeys([
    { keys: "j", text: "Next row", run: () => move(1) },
    { keys: "k", text: "Previous row", run: () => move(-1) },
    ...(rowLink ? [{ keys: "Enter", text: "Open the row", run: () => current() && go(rowLink(current())) }] : []),
    ...(selection ? [{ keys: "x", text: "Select the row", run: () => current() && selection.toggle(rowKey(current())) }] : []),
  ]);
  return html`<div class="table" aria-busy=${busy}>
    <table role="table" aria-label=${label}>
      <thead role="rowgroup"><tr role="row">
        ${selection && html`<th role="columnheader" class="check"><${SelectAll} rows=${rows.map(rowKey)} selection=${selection} /></th>`}
        ${columns.map(({ title, kind, hidden }) => html`<th role="columnheader" class=${kind}>
          ${hidden ? html`<span class="unseen">${title}</span>` : title}</th>`)}
      </tr></thead>
      <tbody role="rowgroup" ref=${body}>
        ${rows.map((row, at) => html`<${Row} key=${rowKey(row)} ...${{ row, columns, rowLink, selection, id: rowKey(row) }}
          active=${at === active} />`)}
      </tbody>
    </table>
  </div>`;
}

function Row({ row, columns, rowLink, selection, id, active }) {
  // The row's first link is for the keyboard; a click anywhere else in the row follows it too.
  const follow = (event) => {
    if (rowLink && !event.target.closest("a, button, input, label") && !String(getSelection())) go(rowLink(row));
  };
  const chosen = selection?.has(id) ?? false;
  return html`<tr role="row" data-id=${id} class=${rowLink ? "link" : ""} aria-current=${active ? "true" : null} onClick=${follow}>
    ${selection && html`<td role="cell" class="check"><input type="checkbox" aria-label=${`Select ${id}`} checked=${chosen}
      onChange=${() => selection.toggle(id)} /></td>`}
    ${columns.map(({ title, cell, kind, hidden, clear }) => html`<td role="cell" class=${kind} data-title=${hidden || clear ? null : title}>${cell(row)}</td>`)}
  </tr>`;
}

function SelectAll({ rows, selection }) {
  const box = useRef();
  const count = rows.filter((id) => selection.has(id)).length;
  useEffect(() => { box.current.indeterminate = count > 0 && count < rows.length; });
  return html`<input ref=${box} type="checkbox" aria-label="Select all rows of this page" checked=${rows.length > 0 && count === rows.length}
    onChange=${() => selection.setAll(count === rows.length ? [] : rows)} />`;
}

// The chosen rows, until `deps` change.
export function useSelection(deps) {
  const [chosen, setChosen] = useState(new Set());
  useEffect(() => setChosen(new Set()), deps);
  const toggle = (id) => setChosen((last) => {
    const next = new Set(last);
    if (!next.delete(id)) next.add(id);
    return next;
  });
  return { ids: [...chosen], has: (id) => chosen.has(id), toggle, setAll: (ids) => setChosen(new Set(ids)), clear: () => setChosen(new Set()) };
}
