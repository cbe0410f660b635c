// Tables of a mapping that sort: partitions, actors, FIFOs.

import { html, replace, svg } from "./dom.js";
import { changeText, countText, shareText, timeText, words } from "./format.js";
import { partitionRound, partitionVariable } from "./palette.js";

const COUNT = 9;
/** The names of the ticks in a row of an actor, in their order; behind them stands how often it fired. */
export const ACTOR_TIMES = ["scheduling", "reading", "processing", "writing", "link_waiting", "blocked_reading", "blocked_writing", "idle", "finished"];
export const PARTITION_TIMES = ["scheduling", "reading", "processing", "writing", "link_waiting", "unoccupied"];
const HEADS = { link_waiting: "link", blocked_reading: "no tokens", blocked_writing: "no room", idle: "no core", finished: "done" };

/**
 * Make a table. A column is {head, title, value(row), text(row), cell(row), text: left aligned}: `value` sorts, `text` or
 * `cell` (an element) is shown. Returns {sort(column, direction)}.
 */
export function sortableTable(element, { caption, columns, rows, onRow = null }) {
  const body = html("tbody"), heads = columns.map((column, k) => {
    const button = html("button", { type: "button", title: column.title ?? null, onclick: () => sort(k) }, column.head);
    return html("th", { scope: "col", class: column.words ? null : "n", "aria-sort": "none" }, button);
  });
  let by = -1, direction = 1;

  function sort(column, way = null) {
    direction = way ?? (by === column ? -direction : columns[column].words ? 1 : -1);
    by = column;
    heads.forEach((head, k) => head.setAttribute("aria-sort", k !== by ? "none" : direction > 0 ? "ascending" : "descending"));
    const value = (row) => columns[by].value(row);
    const compared = (a, b) => (typeof value(a) === "string" ? value(a).localeCompare(value(b), "en", { numeric: true }) : (value(a) ?? -1) - (value(b) ?? -1));
    fillRows([...rows].sort((a, b) => direction * compared(a, b)));
  }

  function fillRows(sorted) {
    replace(body, ...sorted.map((row) => html("tr", onRow ? { onclick: () => onRow(row), class: "chosen" } : {}, ...columns.map((column, k) =>
      html(k === 0 ? "th" : "td", { class: column.words ? null : "n", scope: k === 0 ? "row" : null }, column.cell ? column.cell(row) : column.text(row))))));
  }

  fillRows(rows);
  replace(element, html("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption },
    html("table", {}, html("caption", {}, caption), html("thead", {}, html("tr", {}, ...heads)), body)));
  return { sort };
}

function bar(times, names, whole, title) {
  let x = 0;
  const parts = times.map((ticks, k) => {
    const width = whole ? (100 * ticks) / whole : 0, at = x;
    x += width;
    return width > 0 ? svg("rect", { x: at.toFixed(3), y: 0, width: width.toFixed(3), height: 10, style: { fill: `var(--kind-${names[k]})` } },
      svg("title", {}, `${words(names[k])} ${shareText(ticks, whole)}`)) : null;
  });
  return svg("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": title }, ...parts);
}

/** The key of the colours of kinds of time. */
export function kindKey(names) {
  return html("ul", { class: "legend" }, ...names.map((name) => html("li", { class: "chip" },
    html("span", { class: "swatch", style: { background: `var(--kind-${name})` } }), words(name))));
}

/** Where the core time of the partitions went. */
export function partitionTable(element, view) {
  const whole = (p) => p.times.reduce((a, b) => a + b, 0);
  const place = html("div");
  sortableTable(place, {
    caption: "Where the core time of the partitions went",
    rows: view.partitions.map((p, index) => ({ ...p, index })),
    columns: [
      { head: "partition", words: true, value: (p) => p.name, cell: (p) => named(p.name, p.index) },
      { head: "unit", words: true, value: (p) => p.unit, text: (p) => `${p.unit}${p.cores > 1 ? `, ${p.cores} cores` : ""}` },
      { head: "policy", words: true, value: (p) => p.policy, text: (p) => words(p.policy) },
      { head: "time", words: true, value: (p) => p.times[5] / (whole(p) || 1), cell: (p) => bar(p.times, PARTITION_TIMES, whole(p), `time of ${p.name}`) },
      ...PARTITION_TIMES.map((name, k) => ({ head: HEADS[name] ?? words(name), value: (p) => p.times[k] / (whole(p) || 1), text: (p) => shareText(p.times[k], whole(p)) })),
    ],
  });
  replace(element, place, kindKey(PARTITION_TIMES));
}

function named(name, partition) {
  return html("span", { class: "named" }, partitionSwatch(partition), name);
}

/** A small field with the colour of a partition, and with the pattern that tells equal colours apart. */
export function partitionSwatch(partition) {
  return html("span", { class: "swatch", "data-round": partitionRound(partition), style: { "background-color": partitionVariable(partition) } });
}

/** Where the time of the actors went; `before`: another view to tell the change of the busy time from. */
export function actorTable(element, network, view, { before = null, onActor = null } = {}) {
  const busy = (of, actor) => of.actors[actor].slice(0, 5).reduce((a, b) => a + b, 0);
  const onPath = view.path?.ticks;
  const shown = ACTOR_TIMES.map((_, k) => k).filter((k) => view.actors.some((account) => account[k]));
  return sortableTable(element, {
    caption: `Where the time of the actors went, in shares of ${timeText(view.makespan, view.unit)}`,
    rows: network.actors.map((of, actor) => ({ actor, name: of.name, account: view.actors[actor] })),
    onRow: onActor && ((row) => onActor(row.actor)),
    columns: [
      { head: "actor", words: true, value: (r) => r.name, cell: (r) => named(r.name, view.owner[r.actor]) },
      { head: "partition", words: true, value: (r) => view.partitions[view.owner[r.actor]].name, text: (r) => view.partitions[view.owner[r.actor]].name },
      { head: "firings", value: (r) => r.account[COUNT], text: (r) => countText(r.account[COUNT]) },
      { head: "busy", title: "the time that it held a core", value: (r) => busy(view, r.actor), text: (r) => timeText(busy(view, r.actor), view.unit) },
      ...(before ? [{ head: "change", title: "of the busy time", value: (r) => busy(view, r.actor) - busy(before, r.actor), text: (r) => changeText(busy(view, r.actor), busy(before, r.actor)) }] : []),
      ...(onPath ? [{ head: "on path", title: "share of the critical path", value: (r) => onPath[r.actor], text: (r) => shareText(onPath[r.actor], view.makespan) }] : []),
      ...shown.map((k) => ({ head: HEADS[ACTOR_TIMES[k]] ?? words(ACTOR_TIMES[k]), title: words(ACTOR_TIMES[k]), value: (r) => r.account[k], text: (r) => shareText(r.account[k], view.makespan) })),
    ],
  });
}

/** What the FIFOs carried, and whom they kept waiting. A row is [capacity, most, reads blocked, ticks, writes blocked, ticks]. */
export function bufferTable(element, network, view) {
  const waits = (times, ticks) => (times ? `${countText(times)}\u00d7 ${shareText(ticks, view.makespan)}` : "");
  return sortableTable(element, {
    caption: "What the FIFOs carried, and whom they kept waiting",
    rows: network.buffers.map((of, buffer) => ({ of, account: view.buffers[buffer], across: view.owner[of.source] !== view.owner[of.target] })),
    columns: [
      { head: "FIFO", words: true, value: (r) => r.of.name, text: (r) => r.of.name },
      { head: "crosses", words: true, title: "its ends are in two partitions", value: (r) => (r.across ? "yes" : ""), text: (r) => (r.across ? "yes" : "") },
      { head: "tokens", value: (r) => r.of.tokens, text: (r) => countText(r.of.tokens) },
      { head: "most", title: "the highest filling, in tokens", value: (r) => r.account[1], text: (r) => countText(r.account[1]) },
      { head: "size", title: "in tokens", value: (r) => r.account[0], text: (r) => countText(r.account[0]) },
      { head: "reader waits", title: "for tokens: how often, and how much of the run", value: (r) => r.account[3], text: (r) => waits(r.account[2], r.account[3]) },
      { head: "writer waits", title: "for room: how often, and how much of the run", value: (r) => r.account[5], text: (r) => waits(r.account[4], r.account[5]) },
    ],
  });
}
