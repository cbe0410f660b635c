// Where the actors and FIFOs of a network stand: layers from left to right (dagre), wrapped like lines of a text.
//
// Layers are those of the whole network. They are cut into bands that fit the width, where the fewest FIFOs are cut, and
// each band is laid out on its own. A FIFO between two bands runs in the gaps between layers and in lanes between bands.

const HEIGHT = 26, ROW_GAP = 14, LAYER_GAP = 46, LANE_GAP = 5, MARGIN = 10, LETTER = 6.9, LONGEST = 22;

/** Return a name that fits a box: its end tells more than its beginning. */
export function shortName(name, longest = LONGEST) {
  return name.length <= longest ? name : `\u2026${name.slice(1 - longest)}`;
}

/** Return FIFOs of equal ends as one connection each: {source, target, buffers}. */
export function connections(network) {
  const found = new Map();
  network.buffers.forEach(({ source, target }, index) => {
    const key = source * network.actors.length + target;
    if (!found.has(key)) found.set(key, { source, target, buffers: [] });
    found.get(key).buffers.push(index);
  });
  return [...found.values()];
}

/** Return {width, height, boxes: [{x, y, width, height}], lines: [{...connection, path}]} for so many pixels of width. */
export function layoutNetwork(network, available) {
  const widths = network.actors.map((a) => 22 + LETTER * shortName(a.name).length);
  const all = connections(network);
  const layers = layersOf(widths, all);
  let room = available - 2 * MARGIN, best = null;
  for (let tries = 0; tries < 4 && (!best || best.width > available); tries += 1) {
    if (best) room -= best.width - available; // lanes beside the bands take room too, which is known afterwards
    const bands = bandsOf(layers, widths, all, Math.max(room, ...widths));
    const bandOf = new Map(bands.flatMap((band, k) => band.map((actor) => [actor, k])));
    const inner = bands.map((band, k) => dagreLayout(band, widths, all.filter((c) => within(c, bandOf, k))));
    const found = assemble(inner, bands, bandOf, widths, all);
    if (!best || found.width < best.width) best = found;
  }
  return best;
}

function within({ source, target }, bandOf, band) {
  return source !== target && bandOf.get(source) === band && bandOf.get(target) === band;
}

function dagreLayout(actors, widths, between) {
  const { dagre } = globalThis;
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: ROW_GAP, ranksep: LAYER_GAP, edgesep: 7 });
  for (const actor of actors) graph.setNode(String(actor), { width: widths[actor], height: HEIGHT });
  for (const { source, target } of between) graph.setEdge(String(source), String(target), {});
  dagre.layout(graph);
  return graph;
}

/** Return the actors of each layer, from left to right. */
function layersOf(widths, all) {
  const graph = dagreLayout(widths.keys(), widths, all.filter((c) => c.source !== c.target));
  const layers = new Map();
  for (const actor of widths.keys()) {
    const x = Math.round(graph.node(String(actor)).x);
    if (!layers.has(x)) layers.set(x, []);
    layers.get(x).push(actor);
  }
  return [...layers.keys()].sort((a, b) => a - b).map((x) => layers.get(x));
}

/** Return the actors of each band: no wider than `room`, and so that few FIFOs are cut. */
function bandsOf(layers, widths, all, room) {
  const layerOf = new Map(layers.flatMap((layer, k) => layer.map((actor) => [actor, k])));
  const cut = new Array(layers.length + 1).fill(0);
  for (const { source, target } of all) {
    const [low, high] = [layerOf.get(source), layerOf.get(target)].sort((a, b) => a - b);
    for (let k = low + 1; k <= high; k += 1) cut[k] += 1;
  }
  const wide = layers.map((layer) => Math.max(...layer.map((actor) => widths[actor])) + LAYER_GAP);
  const cost = [0], from = [0];
  for (let end = 1; end <= layers.length; end += 1) {
    cost[end] = Infinity;
    for (let begin = end - 1, sum = 0; begin >= 0; begin -= 1) {
      sum += wide[begin];
      if (sum - LAYER_GAP > room && begin < end - 1) break;
      const of = cost[begin] + (begin ? cut[begin] + 4 : 0) + ((room - Math.min(sum, room)) / room) * 8;
      if (of < cost[end]) [cost[end], from[end]] = [of, begin];
    }
  }
  const bands = [];
  for (let end = layers.length; end > 0; end = from[end]) bands.unshift(layers.slice(from[end], end).flat());
  return bands;
}

/** Put the bands below each other, with lanes between them for the FIFOs from one to another. */
function assemble(inner, bands, bandOf, widths, all) {
  const across = all.filter((c) => bandOf.get(c.source) !== bandOf.get(c.target));
  const lanes = new Array(bands.length + 1).fill(0);
  const routes = new Map();
  for (const c of across) {
    const leave = bandOf.get(c.source) + 1, enter = bandOf.get(c.target);
    const route = { leave, enter, first: lanes[leave]++ };
    if (leave !== enter) route.second = lanes[enter]++;
    routes.set(c, route);
  }
  const margins = shareMargin([...routes.values()].filter((route) => route.leave !== route.enter));
  const left = MARGIN + margins * LANE_GAP + (bands.length > 1 ? 18 : 0);
  const boxes = widths.map(() => null), lines = [], gaps = [], columns = [];
  let y = MARGIN, width = 0;
  inner.forEach((graph, k) => {
    gaps[k] = y;
    const rows = graph.edges().flatMap((edge) => graph.edge(edge).points.map((point) => point.y));
    y += (lanes[k] ? lanes[k] * LANE_GAP + 14 : 0) + Math.max(0, -Math.min(0, ...rows)); // lines may pass above the boxes
    for (const actor of bands[k]) {
      const node = graph.node(String(actor));
      boxes[actor] = { x: left + node.x - node.width / 2, y: y + node.y - HEIGHT / 2, width: node.width, height: HEIGHT };
    }
    columns.push(columnsOf(graph, bands[k], left));
    for (const c of all.filter((one) => within(one, bandOf, k))) {
      const { points } = graph.edge(String(c.source), String(c.target));
      lines.push({ ...c, path: smooth(points.map((p) => ({ x: left + p.x, y: y + p.y }))) });
    }
    width = Math.max(width, left + (graph.graph().width || 0) + MARGIN + lanes[k] + 12);
    y += Math.max(graph.graph().height || HEIGHT, ...rows) + 6;
  });
  gaps.push(y);
  for (const c of all.filter((one) => one.source === one.target)) lines.push({ ...c, path: loop(boxes[c.source]) });
  for (const [c, route] of routes) lines.push({ ...c, path: betweenBands(c, route, { boxes, gaps, columns, bandOf }) });
  return { width, height: y + lanes.at(-1) * LANE_GAP + (lanes.at(-1) ? 14 : 0), boxes, lines };
}

/** Give routes that pass bands a lane beside them, the same one where they do not meet; return how many there are. */
function shareMargin(routes) {
  const ends = [], low = (route) => Math.min(route.leave, route.enter), high = (route) => Math.max(route.leave, route.enter);
  for (const route of routes.sort((a, b) => low(a) - low(b))) {
    const free = ends.findIndex((end) => end < low(route));
    route.margin = free < 0 ? ends.length : free;
    ends[route.margin] = high(route);
  }
  return ends.length;
}

/** Return for each actor of a band the left and right edge of its layer. */
function columnsOf(graph, actors, left) {
  const edges = new Map();
  for (const actor of actors) {
    const { x, width } = graph.node(String(actor)), key = Math.round(x);
    edges.set(key, Math.max(edges.get(key) ?? 0, width / 2));
  }
  return new Map(actors.map((actor) => {
    const { x } = graph.node(String(actor)), half = edges.get(Math.round(x));
    return [actor, { left: left + x - half, right: left + x + half }];
  }));
}

function betweenBands(c, route, { boxes, gaps, columns, bandOf }) {
  const source = boxes[c.source], target = boxes[c.target];
  const out = columns[bandOf.get(c.source)].get(c.source).right + 8 + (route.first % 5) * 3;
  const into = columns[bandOf.get(c.target)].get(c.target).left - 10 - (route.first % 5) * 3;
  const y1 = gaps[route.leave] + 7 + route.first * LANE_GAP;
  const points = [{ x: source.x + source.width, y: source.y + HEIGHT / 2 }, { x: out, y: source.y + HEIGHT / 2 }, { x: out, y: y1 }];
  if (route.leave !== route.enter) {
    const x = MARGIN + route.margin * LANE_GAP, y2 = gaps[route.enter] + 7 + route.second * LANE_GAP;
    points.push({ x, y: y1 }, { x, y: y2 }, { x: into, y: y2 });
  } else points.push({ x: into, y: y1 });
  points.push({ x: into, y: target.y + HEIGHT / 2 }, { x: target.x, y: target.y + HEIGHT / 2 });
  return rounded(points);
}

/** A curve through the middles of the segments, straight at its ends. */
function smooth(points) {
  const at = (p) => `${p.x.toFixed(1)},${p.y.toFixed(1)}`;
  const middle = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  let path = `M${at(points[0])}`;
  for (let k = 1; k + 1 < points.length; k += 1) {
    const end = k + 2 < points.length ? middle(points[k], points[k + 1]) : points[k + 1];
    path += ` Q${at(points[k])} ${at(end)}`;
  }
  return points.length > 2 ? path : `${path} L${at(points[1])}`;
}

/** Straight lines with rounded corners. */
function rounded(points) {
  let path = `M${points[0].x.toFixed(1)},${points[0].y.toFixed(1)}`;
  for (let k = 1; k + 1 < points.length; k += 1) {
    const [a, b, c] = points.slice(k - 1, k + 2);
    const near = (p) => {
      const length = Math.hypot(p.x - b.x, p.y - b.y) || 1, share = Math.min(5, length / 2) / length;
      return `${(b.x + (p.x - b.x) * share).toFixed(1)},${(b.y + (p.y - b.y) * share).toFixed(1)}`;
    };
    path += ` L${near(a)} Q${b.x.toFixed(1)},${b.y.toFixed(1)} ${near(c)}`;
  }
  return `${path} L${points.at(-1).x.toFixed(1)},${points.at(-1).y.toFixed(1)}`;
}

function loop({ x, y, width }) {
  const right = x + width;
  return `M${right - 16},${y} C${right - 16},${y - 16} ${right + 14},${y - 12} ${right},${y + 8}`;
}
