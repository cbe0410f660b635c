// What a timeline shows, apart from how it is drawn: lanes, what stands where, and what a search finds.

import { placeOfFiring } from "./columns.js";

/** Return the lanes from top to bottom: one for each partition, and below it one for each of its actors. */
export function lanesOf(network, view) {
  return view.partitions.flatMap((partition, p) => [
    { partition: p, actor: -1, name: partition.name },
    ...network.actors.flatMap((a, actor) => (view.owner[actor] === p ? [{ partition: p, actor, name: a.name }] : [])),
  ]);
}

/** Return the first place from `low` to before `high` whose value is above `limit`; values rise. */
export function firstAbove(values, low, high, limit) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Return the places [low, high) of the firings of an actor that are seen from time `from` to `to`. */
export function firingsIn(timeline, actor, from, to) {
  const begin = timeline.first[actor], end = timeline.first[actor + 1];
  const low = firstAbove(timeline.end, begin, end, from);
  return [low, Math.max(low, firstAbove(timeline.start, low, end, to))];
}

/** Add to `shares` (one number a pixel, 0 to 1) how much of the time of each an actor fired. */
export function addCoverage(shares, timeline, actor, from, to) {
  const scale = shares.length / (to - from);
  if (timeline.levels) addLevels(shares, timeline, actor, from, to);
  const [low, high] = firingsIn(timeline, actor, from, to);
  for (let k = low; k < high; k += 1) {
    if (!timeline.complete && !inWindow(timeline, timeline.start[k])) continue;
    const x0 = Math.max(0, (timeline.start[k] - from) * scale), x1 = Math.min(shares.length, (timeline.end[k] - from) * scale);
    let pixel = Math.floor(x0);
    if (x1 <= pixel + 1) {
      if (pixel < shares.length) shares[pixel] += x1 - x0;
      continue;
    }
    shares[pixel] += pixel + 1 - x0;
    for (pixel += 1; pixel + 1 <= x1; pixel += 1) shares[pixel] += 1;
    if (pixel < shares.length) shares[pixel] += x1 - pixel;
  }
}

/** Return whether every firing at a time is there. */
export function inWindow(timeline, time) {
  return timeline.complete || timeline.windows.some(([start, end]) => start <= time && time <= end);
}

function addLevels(shares, timeline, actor, from, to) {
  const { bins, busy } = timeline.levels, step = (to - from) / shares.length;
  for (let pixel = 0; pixel < shares.length; pixel += 1) {
    const begin = from + pixel * step;
    if (inWindow(timeline, begin + step / 2)) continue;
    const low = Math.max(0, Math.floor((begin / timeline.makespan) * bins));
    const high = Math.min(bins, Math.max(low + 1, Math.ceil(((begin + step) / timeline.makespan) * bins)));
    let sum = 0;
    for (let bin = low; bin < high; bin += 1) sum += busy[actor * bins + bin];
    shares[pixel] += sum / (255 * Math.max(1, high - low));
  }
}

/** Return the place of the firing of an actor at a time, else -1. */
export function firingAt(timeline, actor, time, tolerance = 0) {
  const [low, high] = firingsIn(timeline, actor, time - tolerance, time + tolerance);
  return low < high ? low : -1;
}

/**
 * Read what is searched for: a part of the name of an actor, of an action or of `actor.action`, and after # a firing.
 * Return {actors: for each actor null or a set of its actions, firing: a number or -1, matches: how many firings}.
 */
export function readSearch(text, network, timeline) {
  const [name, number] = text.toLowerCase().split("#", 2);
  const firing = number === undefined || number.trim() === "" ? -1 : Number(number);
  const actors = network.actors.map((actor) => {
    const own = actor.name.toLowerCase(), found = new Set();
    actor.actions.forEach((action, k) => {
      if (own.includes(name.trim()) || `${own}.${action.toLowerCase()}`.includes(name.trim())) found.add(k);
    });
    return text.trim() && found.size ? found : null;
  });
  let matches = 0;
  actors.forEach((actions, actor) => {
    if (!actions) return;
    if (firing >= 0) matches += placeOfFiring(timeline, actor, firing) >= 0 ? 1 : 0;
    else for (let k = timeline.first[actor]; k < timeline.first[actor + 1]; k += 1) matches += actions.has(timeline.action[k]) ? 1 : 0;
  });
  return { actors, firing, matches };
}

/** Return {actor, place} of the next (or with direction -1, the previous) match after a time, null where there is none. */
export function nextMatch(search, timeline, after, direction) {
  let best = null;
  search.actors.forEach((actions, actor) => {
    if (!actions) return;
    const place = search.firing >= 0 ? placeOfFiring(timeline, actor, search.firing) : nextOfActor(timeline, actor, actions, after, direction);
    if (place < 0 || (direction > 0 ? timeline.start[place] <= after : timeline.start[place] >= after)) return;
    if (!best || (timeline.start[place] - timeline.start[best.place]) * direction < 0) best = { actor, place };
  });
  return best;
}

function nextOfActor(timeline, actor, actions, after, direction) {
  const begin = timeline.first[actor], end = timeline.first[actor + 1];
  let place = firstAbove(timeline.start, begin, end, after);
  if (direction < 0) for (place -= 1; place >= begin && timeline.start[place] >= after; place -= 1);
  for (; place >= begin && place < end; place += direction) if (actions.has(timeline.action[place])) return place;
  return -1;
}

/** Return a step between the marks of an axis: 1, 2 or 5 times a power of ten, at most `count` of them. */
export function axisStep(span, count) {
  const rough = span / Math.max(1, count), size = 10 ** Math.floor(Math.log10(rough));
  return Math.max(1, size * ([1, 2, 5].find((times) => times * size >= rough) ?? 10));
}
