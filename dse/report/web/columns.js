// Views of mappings as they come in a document (dse/report/page/document.py), and with their columns read.

/** Return a column of integers (dse/report/page/columns.py says how it is written). */
export async function readColumn({ n, w, z, d }) {
  let bytes = Uint8Array.fromBase64?.(d) ?? bytesOf(atob(d)); // not all browsers have the one that takes no time
  if (z) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  }
  return valuesOf(bytes, n, w);
}

/** Return the values whose bytes stand in `w` planes of `n`, the lowest first: a column of a timeline is read in a moment. */
function valuesOf(bytes, n, w) {
  const values = new Float64Array(n);
  if (w > 0) values.set(bytes.subarray(0, n));
  let plane = 1, size = 256;
  for (; plane + 1 < w; plane += 2, size *= 65536) {
    for (let k = 0, at = plane * n; k < n; k += 1, at += 1) values[k] += (bytes[at] + 256 * bytes[at + n]) * size;
  }
  if (plane < w) for (let k = 0, at = plane * n; k < n; k += 1, at += 1) values[k] += bytes[at] * size;
  return values;
}

/** Return characters below 256 as bytes. */
function bytesOf(text) {
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k += 1) bytes[k] = text.charCodeAt(k); // Uint8Array.from takes ten times as long
  return bytes;
}

/** Return a view with typed arrays in its timeline and path. Reading one twice costs twice: keep what comes. */
export async function readView(view) {
  const [timeline, path] = await Promise.all([view.timeline && readTimeline(view), view.path && readPath(view.path)]);
  return { ...view, timeline, path };
}

/**
 * Return a timeline: the firings of actor a are from first[a] to before first[a + 1] in all arrays. `index`: which firing
 * of its actor each is; `parts`: when scheduling, reading and processing of each end, null where that is not known.
 */
async function readTimeline(view) {
  const given = view.timeline;
  const columns = [given.index, given.start, given.length, given.action, given.levels?.busy, ...(given.parts ?? [])];
  const [steps, begins, lengths, action, busy, ...parts] = await Promise.all(columns.map((c) => c && readColumn(c)));
  const first = [0];
  for (const count of given.counts) first.push(first.at(-1) + count);
  const start = begins, end = lengths, index = steps ?? new Float64Array(start.length);
  for (let actor = 0; actor + 1 < first.length; actor += 1) {
    let at = 0, number = steps ? 0 : -1;
    for (let k = first[actor]; k < first[actor + 1]; k += 1) {
      start[k] = at += start[k];
      end[k] += at;
      index[k] = number += steps ? steps[k] : 1;
    }
  }
  for (let k = 0; parts.length && k < start.length; k += 1) {
    parts[0][k] += start[k];
    parts[1][k] += parts[0][k];
    parts[2][k] += parts[1][k];
  }
  const levels = given.levels && { bins: given.levels.bins, busy };
  return { ...given, first, index, start, end, action, parts: given.parts ? parts : null, levels };
}

/** Return a critical path; `actor`, `firing` and `buffer` are -1 where there is none. */
async function readPath(given) {
  const names = ["kind", "actor", "firing", "buffer", "length"];
  const [kind, actor, firing, buffer, length] = await Promise.all(names.map((name) => readColumn(given[name])));
  const start = new Float64Array(length.length), end = length;
  for (let k = 0, at = given.first; k < length.length; k += 1) {
    actor[k] -= 1;
    firing[k] -= 1;
    buffer[k] -= 1;
    start[k] = at;
    end[k] = at += length[k];
  }
  return { ...given, kind, actor, firing, buffer, start, end };
}

/** Return where firing `index` of an actor stands in the arrays of a timeline, -1 where it is left out. */
export function placeOfFiring(timeline, actor, index) {
  let low = timeline.first[actor], high = timeline.first[actor + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeline.index[middle] < index) low = middle + 1;
    else high = middle;
  }
  return low < timeline.first[actor + 1] && timeline.index[low] === index ? low : -1;
}
