// The timeline of a mapping: from the whole run to one firing, with names, search and the critical path.

import { placeOfFiring } from "./columns.js";
import { html, replace } from "./dom.js";
import { countText, shareText, timeText } from "./format.js";
import { AXIS, LANE, paint } from "./gantt_paint.js";
import { firingAt, firingsIn, inWindow, lanesOf, nextMatch, readSearch } from "./gantt_scene.js";
import { isPrinting, onPalette } from "./palette.js";

const KEYS = "arrows go from firing to firing and from lane to lane, plus and minus zoom, Enter shows one firing, "
  + "Home the whole run, Shift and arrows move, w goes to the next long wait";

const SHEET = 1.2; // the height of a page of paper in its widths, with room for a heading
const SHARP = 2; // paper has smaller dots than a screen

/**
 * Draw the timeline of mappings of a network. Options: `onZoom(from, to)` where the shown time changes, `onSelect(actor,
 * firing)`. Returns {show(view), zoom(from, to), select(actor, firing), within(ticks), view(),
 * destroy()}; times in ticks. `within`: the whole run is shown as that long, so that two timelines have one scale.
 */
export function ganttView(element, network, options = {}) {
  const canvas = html("canvas", { tabindex: 0, role: "application", "aria-roledescription": "timeline" });
  const space = html("div", { class: "gantt-space" }, canvas), scroller = html("div", { class: "gantt-scroller" }, space);
  const search = html("input", { type: "search", placeholder: "actor, action or actor.action#firing", "aria-label": "search firings", oninput: searched, onkeydown: searchKey });
  const found = html("span", { class: "found", role: "status" });
  const waits = html("select", { "aria-label": "go to a long wait", onchange: () => toWait(Number(waits.value)) });
  const pathBox = html("input", { type: "checkbox", checked: true, onchange: request });
  const pathLabel = html("label", {}, pathBox, " critical path");
  const pages = html("div", { class: "gantt-pages", "aria-hidden": "true" });
  const said = html("p", { class: "said", role: "status" }), left_out = html("p", { class: "note" });
  const button = (text, title, action) => html("button", { type: "button", title, "aria-label": title, onclick: action }, text);
  replace(element, html("div", { class: "tools" }, search, found,
    button("\u2212", "zoom out", () => zoomBy(2)), button("+", "zoom in", () => zoomBy(0.5)),
    button("whole run", "show the whole run", whole), button("one firing", "show the selected firing", toFiring), waits, pathLabel),
  scroller, pages, said, left_out);

  const context = canvas.getContext("2d");
  let view = null, lanes = [], from = 0, to = 1, selected = null, lane = 0, wanted = null, asked = false, width = 300, height = 100, extent = 0;

  const leftOf = () => Math.min(150, Math.max(84, width * 0.2));
  const makespan = () => Math.max(1, view.makespan, extent);
  const timeAt = (x) => from + ((x - leftOf()) / (width - leftOf())) * (to - from);

  function request() {
    if (asked || !view) return;
    asked = true;
    requestAnimationFrame(draw);
  }

  function draw() {
    asked = false;
    const { timeline } = view;
    if (!timeline) return;
    const content = AXIS + lanes.length * LANE + 4, scale = devicePixelRatio || 1;
    width = Math.max(280, scroller.clientWidth);
    replace(pages, ...(isPrinting() ? sheets() : []));
    height = Math.min(content, Math.max(240, Math.round(innerHeight * 0.7)));
    scroller.style.setProperty("max-height", `${height}px`);
    space.style.setProperty("height", `${content}px`);
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.setProperty("width", `${width}px`);
      canvas.style.setProperty("height", `${height}px`);
    }
    paintOn(context, scale, height, scroller.scrollTop);
  }

  function paintOn(on, scale, high, top) {
    on.setTransform(scale, 0, 0, scale, 0, 0);
    paint({
      context: on, width, height: high, left: leftOf(), lanes, top, network, view, from, to, selected,
      search: wanted, path: pathBox.checked ? view.path : null,
    });
  }

  /** Return all lanes on canvases that each fit a page of paper: it does not scroll, and no canvas is cut in two. */
  function sheets() {
    const each = Math.max(1, Math.floor((width * SHEET - AXIS) / LANE));
    return Array.from({ length: Math.ceil(lanes.length / each) }, (_, number) => {
      const high = AXIS + Math.min(each, lanes.length - number * each) * LANE;
      const sheet = html("canvas", { width: SHARP * width, height: SHARP * high });
      paintOn(sheet.getContext("2d"), SHARP, high, number * each * LANE);
      return sheet;
    });
  }

  /** Show the time from `begin` to `end`, as far as there is a run. */
  function zoom(begin, end, silent = false) {
    if (!view?.timeline) return;
    const span = Math.min(makespan(), Math.max(end - begin, Math.min(makespan(), 10)));
    from = Math.max(0, Math.min((begin + end - span) / 2, makespan() - span));
    to = from + span;
    element.dataset.from = String(Math.round(from));
    element.dataset.to = String(Math.round(to));
    canvas.setAttribute("aria-label", `timeline from ${timeText(from, view.unit)} to ${timeText(to, view.unit)}; ${KEYS}`);
    if (!silent) options.onZoom?.(from, to);
    request();
  }

  function zoomBy(factor, at = (from + to) / 2) {
    zoom(at - (at - from) * factor, at + (to - at) * factor);
  }

  function whole() {
    zoom(0, makespan());
  }

  function toFiring() {
    if (!selected) return;
    const start = view.timeline.start[selected.place], end = view.timeline.end[selected.place];
    const margin = Math.max(2, (end - start) * 0.25);
    zoom(start - margin, end + margin);
  }

  function choose(actor, place, near = true) {
    selected = { actor, place };
    lane = Math.max(0, lanes.findIndex((of) => of.actor === actor));
    tell();
    if (near) bringIntoView(place);
    options.onSelect?.(actor, view.timeline.index[place]);
    request();
  }

  function bringIntoView(place) {
    const y = lane * LANE, start = view.timeline.start[place], end = view.timeline.end[place];
    if (y < scroller.scrollTop || y + LANE + AXIS > scroller.scrollTop + height) scroller.scrollTop = Math.max(0, y - height / 2);
    if (end <= from || start >= to) zoom(start - (to - from) / 2, start + (to - from) / 2);
  }

  function tell() {
    const { timeline } = view, { actor, place } = selected, of = network.actors[actor], account = view.actors[actor];
    const begin = timeline.start[place], end = timeline.end[place];
    const parts = timeline.parts ? partsText(place) : "";
    said.textContent = `${of.name}.${of.actions[timeline.action[place]] ?? "?"}, firing ${countText(timeline.index[place])} of ${countText(account[9])}`
      + ` on ${view.partitions[view.owner[actor]].name}: ${timeText(begin, view.unit)} to ${timeText(end, view.unit)}, ${timeText(end - begin, view.unit)}${parts}${onPath(actor, timeline.index[place])}`;
  }

  function partsText(place) {
    const { parts, start, end } = view.timeline, ends = [...parts.map((part) => part[place]), end[place]];
    const names = ["scheduling", "reading", "processing", "writing"];
    const texts = ends.map((at, k) => [names[k], at - (k ? ends[k - 1] : start[place])]).filter(([, ticks]) => ticks > 0);
    return texts.length > 1 ? ` (${texts.map(([name, ticks]) => `${name} ${timeText(ticks, view.unit)}`).join(", ")})` : "";
  }

  function onPath(actor, firing) {
    const { path } = view;
    if (!path) return "";
    for (let k = 0; k < path.actor.length; k += 1) if (path.actor[k] === actor && path.firing[k] === firing) return "; on the critical path";
    return "";
  }

  function searched() {
    wanted = search.value.trim() && view?.timeline ? readSearch(search.value, network, view.timeline) : null;
    found.textContent = wanted ? `${countText(wanted.matches)} ${wanted.matches === 1 ? "firing" : "firings"}${view.timeline.complete ? "" : " of those shown"}; Enter goes on` : "";
    request();
  }

  function searchKey(event) {
    if (event.key !== "Enter" || !wanted) return;
    event.preventDefault();
    const direction = event.shiftKey ? -1 : 1, here = selected ? view.timeline.start[selected.place] : direction > 0 ? -1 : Infinity;
    const match = nextMatch(wanted, view.timeline, here, direction) ?? nextMatch(wanted, view.timeline, direction > 0 ? -1 : Infinity, direction);
    if (!match) return;
    choose(match.actor, match.place);
    const per = (view.timeline.end[match.place] - view.timeline.start[match.place]) || 1;
    if ((to - from) / per > 400) zoom(view.timeline.start[match.place] - 40 * per, view.timeline.end[match.place] + 40 * per);
  }

  function toWait(number) {
    const wait = view?.timeline?.waits[number];
    if (!wait) return;
    const [start, end, , actor, firing] = wait, margin = (end - start) * 0.6 + 2;
    zoom(start - margin, end + margin);
    select(actor, firing);
    waits.value = String(number);
  }

  function key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], row = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const others = {
      "+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2), Home: whole, Enter: toFiring,
      w: () => toWait((Number(waits.value) + 1 || 0) % Math.max(1, view.timeline.waits.length)),
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step && event.shiftKey) zoom(from + (step * (to - from)) / 4, to + (step * (to - from)) / 4);
    else if (step) along(step);
    else if (row) across(row);
    else if (others[event.key]) others[event.key]();
    else return;
    event.preventDefault();
  }

  function along(step) {
    if (!selected) return across(1);
    const next = selected.place + step, { first } = view.timeline;
    if (next >= first[selected.actor] && next < first[selected.actor + 1]) choose(selected.actor, next);
  }

  function across(row) {
    const middle = selected ? view.timeline.start[selected.place] : from;
    for (let k = selected ? lane + row : row > 0 ? 0 : lanes.length - 1; k >= 0 && k < lanes.length; k += row) {
      const { actor } = lanes[k], { first } = view.timeline;
      if (actor < 0 || first[actor] === first[actor + 1]) continue;
      const [low] = firingsIn(view.timeline, actor, middle, Infinity);
      choose(actor, Math.min(low, first[actor + 1] - 1));
      return;
    }
  }

  const pointers = new Map();
  let moved = false;
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event.offsetX);
    moved = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const before = [...pointers.values()];
    pointers.set(event.pointerId, event.offsetX);
    const after = [...pointers.values()];
    if (before.length === 1) {
      if (Math.abs(after[0] - before[0]) < 3 && !moved) return void pointers.set(event.pointerId, before[0]);
      const shift = ((before[0] - after[0]) / (width - leftOf())) * (to - from);
      zoom(from + shift, to + shift);
    } else pinch(before, after);
    moved = true;
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      pointers.delete(event.pointerId);
      if (name === "pointerup" && !moved) clicked(event);
    });
  }

  function pinch(before, after) {
    const factor = Math.abs(before[0] - before[1]) / Math.max(8, Math.abs(after[0] - after[1]));
    zoomBy(factor, timeAt((after[0] + after[1]) / 2));
  }

  function placeUnder(event) {
    const under = lanes[Math.floor((event.offsetY - AXIS + scroller.scrollTop) / LANE)];
    if (!view?.timeline || !under || under.actor < 0 || event.offsetY < AXIS) return null;
    const place = firingAt(view.timeline, under.actor, timeAt(event.offsetX), ((to - from) / width) * 2);
    return place < 0 ? null : { actor: under.actor, place };
  }

  function clicked(event) {
    const under = placeUnder(event);
    if (under) choose(under.actor, under.place, false);
    else if (view?.timeline && !inWindow(view.timeline, timeAt(event.offsetX))) said.textContent = "here the page holds how busy each actor was, not each firing";
  }

  canvas.addEventListener("dblclick", (event) => {
    if (placeUnder(event)) toFiring();
  });
  canvas.addEventListener("keydown", (event) => view?.timeline && key(event));
  canvas.addEventListener("wheel", (event) => {
    if (!view?.timeline) return;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.metaKey) zoomBy(Math.exp(event.deltaY * 0.004), timeAt(event.offsetX));
    else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) zoom(from + (sideways / width) * (to - from), to + (sideways / width) * (to - from));
    else return;
    event.preventDefault();
  }, { passive: false });
  scroller.addEventListener("scroll", request);

  function select(actor, firing) {
    if (!view?.timeline) return false;
    const place = placeOfFiring(view.timeline, actor, firing);
    if (place >= 0) choose(actor, place);
    return place >= 0;
  }

  function drawNotes() {
    const { timeline } = view;
    pathLabel.hidden = !view.path;
    replace(waits, html("option", { value: "-1" }, "longest waits"), ...timeline.waits.map(([start, end, partition, actor], k) =>
      html("option", { value: k }, `${k + 1}. ${view.partitions[partition].name} ${timeText(end - start, view.unit)} before ${network.actors[actor].name}`)));
    left_out.textContent = timeline.complete ? "" : `${countText(timeline.firings)} firings: ${countText(timeline.held)} of them are here, in ${timeline.windows.length} `
      + `windows around the longest waits (marked on the axis). Elsewhere lanes show how busy each actor was in ${countText(timeline.levels.bins)} parts of the run`
      + `, ${shareText(1, timeline.levels.bins)} each; the other firings are left out.`;
  }

  const observer = new ResizeObserver(request), off = onPalette(() => (isPrinting() ? draw() : request()));
  observer.observe(scroller);
  return {
    show(next) {
      const fresh = !view || view.makespan !== next.makespan, kept = view && to - from < view.makespan;
      view = next.timeline ? { ...next, timeline: { ...next.timeline, makespan: next.makespan } } : next;
      scroller.hidden = !view.timeline;
      selected = null;
      said.textContent = "";
      if (!view.timeline) {
        left_out.textContent = "This page does not hold the firings of this mapping.";
        return;
      }
      lanes = lanesOf(network, view);
      drawNotes();
      searched();
      if (fresh && !kept) whole();
      else zoom(from, to, true);
    },
    zoom: (begin, end) => zoom(begin, end, true),
    within(ticks) {
      extent = ticks;
      whole();
    },
    select,
    view: () => view,
    destroy() {
      observer.disconnect();
      off();
      replace(element);
    },
  };
}
