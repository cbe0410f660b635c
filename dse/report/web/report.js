// The report of a search: any of its mappings, alone or beside another one. Reads the document in the element "document".

import { readView } from "./columns.js";
import { curveView, frontView } from "./curve.js";
import { html, replace } from "./dom.js";
import { changeText, timeText } from "./format.js";
import { ganttView } from "./gantt.js";
import { networkView } from "./network.js";
import { followPalette } from "./palette.js";
import { actorTable, bufferTable, partitionTable } from "./tables.js";

const ids = ["reasons", "network", "timeline", "partitions", "actors", "fifos"];

/** One column of the page: all views of one mapping. */
function side(number, network, onZoom) {
  const places = Object.fromEntries(ids.map((id) => [id, html("div", { class: "side" })]));
  for (const id of ids) document.getElementById(`${id}-sides`).append(places[id]);
  const gantt = ganttView(places.timeline, network, {
    onZoom: (from, to) => onZoom(number, from, to), onSelect: (actor) => picture.select(actor),
  });
  const picture = networkView(places.network, network, { onSelect: (actor) => gantt.select(actor, gantt.view()?.timeline?.index[gantt.view().timeline.first[actor]] ?? 0) });
  return {
    places,
    gantt,
    picture,
    show(view, other) {
      for (const place of Object.values(places)) place.dataset.mapping = view.label;
      replace(places.reasons, html("ul", {}, ...view.lines.map((line) => html("li", {}, line))));
      picture.show(view);
      gantt.show(view);
      partitionTable(places.partitions, view);
      actorTable(places.actors, network, view, { before: other, onActor: (actor) => picture.select(actor) });
      bufferTable(places.fifos, network, view);
    },
  };
}

/** Say what the page does not hold, so that it is no larger than it may be. */
function leftOutText({ mappings, rows, leftOut }) {
  const said = [];
  if (rows > mappings.length) said.push(`The first ${mappings.length} of ${rows} ranked mappings can be chosen.`);
  if (leftOut) {
    const which = leftOut === mappings.length ? "these mappings" : leftOut === 1 ? "the last of them" : `the last ${leftOut} of them`;
    said.push(`The timeline and critical path of ${which} are left out: the page would be too large with them.`);
  }
  return said.join(" ");
}

function start(page) {
  const { network, mappings } = page, read = mappings.map(() => null), sides = [];
  const viewOf = (k) => (read[k] ??= readView(mappings[k]));
  const label = (m) => `${m.label}: ${timeText(m.makespan, m.unit)}`;
  const options = (none) => [...(none ? [html("option", { value: -1 }, none)] : []), ...mappings.map((m, k) => html("option", { value: k }, label(m)))];
  const chosen = html("select", { id: "chosen", onchange: update }, ...options());
  const compared = html("select", { id: "compared", onchange: update }, ...options("no other"));
  const mappingText = html("p", { class: "note mapping", "aria-live": "polite" });

  const leftOut = leftOutText(page);
  let wasComparing = false;

  function zoomed(number, from, to) {
    sides.forEach((of, k) => k !== number && of.gantt.zoom(from, to));
  }

  async function update() {
    const first = Number(chosen.value), second = Number(compared.value);
    const [one, other] = await Promise.all([viewOf(first), second >= 0 ? viewOf(second) : null]);
    if (first !== Number(chosen.value) || second !== Number(compared.value)) return;
    while (sides.length < (other ? 2 : 1)) sides.push(side(sides.length, network, zoomed));
    while (sides.length > (other ? 2 : 1)) {
      const { places, gantt, picture } = sides.pop();
      gantt.destroy();
      picture.destroy();
      for (const place of Object.values(places)) place.remove();
    }
    document.body.classList.toggle("comparing", Boolean(other));
    sides[0].show(one, null);
    if (other) {
      sides[1].show(other, one);
    }
    if (other || wasComparing) for (const of of sides) of.gantt.within(other ? Math.max(one.makespan, other.makespan) : 0);
    wasComparing = Boolean(other);
    replace(mappingText, leftOut ? html("span", { id: "left-out" }, `${leftOut} `) : null, html("b", {}, one.label), ` ${one.mapping}`,
      ...(other ? [html("br"), html("b", {}, other.label), ` ${other.mapping} `, html("i", {}, `(${changeText(other.makespan, one.makespan)})`)] : []));
    document.documentElement.dataset.ready = `${one.label}${other ? ` ${other.label}` : ""}`;
  }

  const tools = document.getElementById("choice");
  replace(tools, html("label", { for: "chosen" }, "mapping"), chosen, html("label", { for: "compared" }, "beside"), compared, mappingText);
  if (page.search) curveView(document.getElementById("curve"), page.search);
  if (page.front) frontView(document.getElementById("front"), page.front);
  update();
}

document.documentElement.classList.add("scripted");
followPalette();
start(JSON.parse(document.getElementById("document").textContent));
