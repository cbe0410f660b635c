// Draws lanes of a timeline on a canvas.

import { axisText } from "./format.js";
import { addCoverage, axisStep, firingsIn, firstAbove, inWindow } from "./gantt_scene.js";
import { inkOn, kindColour, palette, partitionColour } from "./palette.js";

export const LANE = 22;
export const AXIS = 22;
const PARTS = ["scheduling", "reading", "processing", "writing"];

/**
 * Paint a scene: {context, width, height, left, lanes, top, network, view, from, to, selected, search, path}. `left`: where
 * lanes begin, behind their names; `top`: how far the lanes are scrolled; `selected`: {actor, place} or null.
 */
export function paint(scene) {
  const { context, width, height, lanes, top } = scene, now = palette();
  context.fillStyle = now.paper;
  context.fillRect(0, 0, width, height);
  const first = Math.max(0, Math.floor(top / LANE)), last = Math.min(lanes.length, Math.ceil((top + height) / LANE));
  const shares = new Map();
  for (let k = first; k < last; k += 1) paintLane(scene, k, shares, now);
  if (scene.path) paintPath(scene, now);
  paintAxis(scene, now);
}

function paintLane(scene, number, kept, now) {
  const { context, lanes, top, left, width } = scene, lane = lanes[number], y = AXIS + number * LANE - top;
  const of = coverage(scene, lane, kept);
  if (lane.actor < 0) {
    context.fillStyle = now.raised;
    context.fillRect(0, y, width, LANE);
    context.fillStyle = partitionColour(lane.partition);
    context.fillRect(0, y, 4, LANE);
    bars(context, of, left, y + 4, LANE - 6);
    label(scene, lane.name, y, now.ink, true);
    return;
  }
  context.fillStyle = now.lane;
  context.fillRect(left, y + 1, width - left, LANE - 2);
  context.fillStyle = partitionColour(lane.partition);
  context.fillRect(0, y, 4, LANE);
  const [low, high] = firingsIn(scene.view.timeline, lane.actor, scene.from, scene.to);
  if (high - low > (width - left) / 3 || !inWindow(scene.view.timeline, (scene.from + scene.to) / 2)) bars(context, of, left, y + 3, LANE - 5);
  else paintFirings(scene, lane, y, low, high, now);
  label(scene, lane.name, y, scene.search?.actors[lane.actor] ? now.accent : now.ink, Boolean(scene.search?.actors[lane.actor]));
}

/** Return the shares of a lane, one a pixel; of a partition the mean over its cores. */
function coverage(scene, lane, kept) {
  const { view, from, to, left, width, lanes } = scene, pixels = Math.max(1, Math.floor(width - left));
  const of = (actor) => {
    if (!kept.has(actor)) {
      const shares = new Float32Array(pixels);
      addCoverage(shares, view.timeline, actor, from, to);
      kept.set(actor, shares);
    }
    return kept.get(actor);
  };
  if (lane.actor >= 0) return of(lane.actor);
  const sum = new Float32Array(pixels), { cores } = view.partitions[lane.partition];
  for (const { actor, partition } of lanes) {
    if (partition === lane.partition && actor >= 0) of(actor).forEach((share, k) => { sum[k] += share / cores; });
  }
  return sum;
}

/** Bars as high as shares, equal neighbours as one. */
function bars(context, shares, left, y, height) {
  context.beginPath();
  for (let k = 0; k < shares.length;) {
    const high = shares[k] > 0 ? Math.max(1, Math.round(Math.min(1, shares[k]) * height)) : 0, begin = k;
    for (k += 1; k < shares.length && (shares[k] > 0 ? Math.max(1, Math.round(Math.min(1, shares[k]) * height)) : 0) === high; k += 1);
    if (high) context.rect(left + begin, y + height - high, k - begin, high);
  }
  context.fill();
}

function paintFirings(scene, lane, y, low, high, now) {
  const { context, view, network, from, to, left, width, selected, search } = scene, { timeline } = view;
  const scale = (width - left) / (to - from), fill = partitionColour(lane.partition), ink = inkOn(fill);
  const { actions } = network.actors[lane.actor], wanted = search?.actors[lane.actor];
  for (let k = low; k < high; k += 1) {
    const x0 = Math.max(left, left + (timeline.start[k] - from) * scale), x1 = Math.min(width, left + (timeline.end[k] - from) * scale);
    const wide = Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 0.6 : 0));
    context.fillStyle = fill;
    context.fillRect(x0, y + 2, wide, LANE - 4);
    if (timeline.parts && wide > 12) paintParts(scene, k, y, x0, x1, scale);
    if (wanted?.has(timeline.action[k]) && (search.firing < 0 || search.firing === timeline.index[k])) {
      context.fillStyle = now.mark;
      context.fillRect(x0, y + 1, wide, 3);
    }
    if (wide > 26) inside(context, actions[timeline.action[k]] ?? "", x0 + 4, y + 13.5, wide - 8, ink);
    if (selected && selected.place === k) {
      context.lineWidth = 2;
      context.strokeStyle = now.accent;
      context.strokeRect(x0 - 1, y + 1, wide + 2, LANE - 2);
    }
  }
}

/** A strip below a firing: what its time went into. */
function paintParts({ context, view, from, left }, k, y, x0, x1, scale) {
  const { timeline } = view, ends = [...timeline.parts.map((part) => part[k]), timeline.end[k]];
  let x = x0;
  ends.forEach((end, part) => {
    const next = Math.min(x1, Math.max(x0, left + (end - from) * scale));
    context.fillStyle = kindColour(PARTS[part]);
    if (next > x) context.fillRect(x, y + LANE - 6, next - x, 4);
    x = Math.max(x, next);
  });
}

function inside(context, name, x, y, room, ink) {
  context.font = "11px system-ui, sans-serif";
  const most = Math.floor(room / 5.6), text = name.length <= most ? name : most > 3 ? `${name.slice(0, most - 1)}\u2026` : "";
  context.fillStyle = ink;
  if (text) context.fillText(text, x, y, room);
}

function label({ context, left }, name, y, ink, bold) {
  context.font = `${bold ? "600 " : ""}12px system-ui, sans-serif`;
  context.fillStyle = ink;
  const most = Math.floor((left - 14) / 6.4);
  context.fillText(name.length <= most ? name : `\u2026${name.slice(1 - most)}`, 9, y + 15, left - 12);
}

/** The critical path: a line below the firings that it goes through, and steps where it goes on in another lane. */
function paintPath(scene, now) {
  const { context, view, lanes, top, from, to, left, width } = scene, { path } = view, scale = (width - left) / (to - from);
  const rows = new Map(lanes.map(({ actor }, k) => [actor, AXIS + k * LANE - top + LANE - 1.5]));
  const line = (x0, y0, x1, y1) => context.fillRect(Math.min(x0, x1) - 1, Math.min(y0, y1) - 1, Math.abs(x1 - x0) + 2, Math.abs(y1 - y0) + 2);
  let x = left, last = null, low = 0, high = 0, column = -1;
  context.fillStyle = now.path;
  for (let k = firstAbove(path.end, 0, path.end.length, from); k < path.start.length && path.start[k] <= to; k += 1) {
    const y = rows.get(path.actor[k]);
    if (y === undefined) continue;
    const x0 = Math.max(left, left + (path.start[k] - from) * scale), x1 = Math.min(width, left + (path.end[k] - from) * scale);
    if (x1 - x0 < 1 && Math.floor(x0) === column) { // many segments in one pixel are one line from the highest to the lowest
      low = Math.min(low, y);
      high = Math.max(high, y);
    } else {
      if (column >= 0) line(x, low, x, high);
      column = x1 - x0 < 1 ? Math.floor(x0) : -1;
      low = Math.min(y, last ?? y);
      high = Math.max(y, last ?? y);
      if (column < 0) {
        line(x0, low, x0, high);
        line(x0, y, x1, y);
      }
    }
    [x, last] = [x1, y];
  }
  if (column >= 0) line(x, low, x, high);
}

function paintAxis({ context, view, from, to, left, width, height }, now) {
  context.fillStyle = now.paper;
  context.fillRect(0, 0, width, AXIS);
  context.font = "11px system-ui, sans-serif";
  const step = axisStep(to - from, (width - left) / 110), scale = (width - left) / (to - from);
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const x = left + (at - from) * scale;
    context.fillStyle = now.line;
    context.fillRect(x, AXIS - 5, 1, 5);
    context.globalAlpha = 0.5;
    context.fillRect(x, AXIS, 0.5, height);
    context.globalAlpha = 1;
    context.fillStyle = now.quiet;
    if (x < width - 50) context.fillText(axisText(at, step, view.unit), x + 3, 12);
  }
  if (view.timeline.complete) return;
  context.fillStyle = now.accent;
  for (const [start, end] of view.timeline.windows) {
    const x0 = Math.max(left, left + (start - from) * scale), x1 = Math.min(width, left + (end - from) * scale);
    if (x1 > x0) context.fillRect(x0, AXIS - 3, Math.max(2, x1 - x0), 3);
  }
}
