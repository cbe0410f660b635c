// How a search went, and its Pareto front: curves and points drawn by uPlot (vendor/uPlot.iife.min.js).

import { html, replace } from "./dom.js";
import { countText, timeText } from "./format.js";
import { onPalette, palette } from "./palette.js";

const SPAN = 3;

function plot(element, label, make) {
  const place = html("div", { class: "plot", role: "img", "aria-label": label });
  replace(element, place);
  let drawn = null, width = 0;
  function draw() {
    width = Math.max(260, element.clientWidth);
    drawn?.destroy();
    const { options, data } = make(palette());
    drawn = new globalThis.uPlot({ width, height: 280, ...options }, data, place);
  }
  const observer = new ResizeObserver(() => Math.abs(element.clientWidth - width) > 10 && draw()), off = onPalette(draw);
  observer.observe(element);
  draw();
  return {
    draw,
    destroy() {
      observer.disconnect();
      off();
      drawn?.destroy();
      replace(element);
    },
  };
}

function axis(now, label, texts, size) {
  return { label, stroke: now.quiet, grid: { stroke: now.line, width: 1 }, ticks: { stroke: now.line, width: 1 }, size, labelSize: 20, values: (_, values) => values.map(texts) };
}

/**
 * Draw the makespan of each mapping in the order of estimation, the best so far and the bound. `search`: {found: pairs of
 * ordinal and ticks, in order; evaluations, bound: ticks or 0, unit}. Returns {show(search), destroy()}.
 */
export function curveView(element, search) {
  let of = search;
  const best = () => of.found.reduce((least, [, ticks]) => Math.min(least, ticks), Infinity);
  const label = () => `${countText(of.evaluations)} mappings estimated, the best takes ${timeText(best(), of.unit)}`
    + (of.bound ? `, the lower bound is ${timeText(of.bound, of.unit)}` : "");
  const drawn = plot(element, label(), (now) => {
    const top = best() * SPAN, last = Math.max(1, of.evaluations - 1);
    let least = Infinity;
    const rows = of.found.map(([ordinal, ticks]) => [ordinal, (least = Math.min(least, ticks)), Math.min(ticks, top), of.bound || null]);
    if (rows.length && rows.at(-1)[0] < last) rows.push([last, least, null, of.bound || null]);
    if (of.bound && rows.length && rows[0][0] > 0) rows.unshift([0, null, null, of.bound]);
    return {
      data: [0, 1, 2, 3].map((k) => rows.map((row) => row[k])),
      options: {
        scales: { x: { time: false } },
        axes: [axis(now, "mappings in the order of estimation", (v) => countText(v), 40), axis(now, "makespan", (v) => timeText(v, of.unit), 84)],
        series: [
          { label: "mapping", value: (_, v) => (v === null ? "" : countText(v + 1)) },
          { label: "best so far", stroke: now.partitions[1], width: 2, paths: globalThis.uPlot.paths.stepped({ align: 1 }), points: { show: false }, value: (_, v) => (v === null ? "" : timeText(v, of.unit)) },
          { label: "makespan", stroke: now.partitions[0], width: 0, paths: () => null, points: { show: true, size: 5, fill: now.partitions[0] }, value: (_, v) => (v === null ? "" : timeText(v, of.unit)) },
          ...(of.bound ? [{ label: "lower bound", stroke: now.quiet, width: 1.5, dash: [6, 4], points: { show: false }, value: (_, v) => (v === null ? "" : timeText(v, of.unit)) }] : []),
        ].slice(0, of.bound ? 4 : 3),
      },
    };
  });
  return {
    show(next) {
      of = next;
      element.firstElementChild.setAttribute("aria-label", label());
      drawn.draw();
    },
    destroy: drawn.destroy,
  };
}

/** Draw the points of a Pareto front over two of its axes. `front`: {axes: [{name, unit}], points: [{values, label}]}. */
export function frontView(element, front) {
  let [x, y] = [0, Math.min(1, front.axes.length - 1)];
  const chart = html("div"), choice = (now, then) => html("select", { "aria-label": "axis", onchange: (event) => then(Number(event.target.value)) },
    ...front.axes.map((axis_, k) => html("option", { value: k, selected: k === now }, axis_.name)));
  const text = (k) => (v) => (["ps", "cycles"].includes(front.axes[k].unit) ? timeText(v, front.axes[k].unit) : `${Number(v.toPrecision(4)).toLocaleString("en")}${front.axes[k].unit === "bytes" ? " B" : ""}`);
  let drawn = null;
  function draw() {
    drawn?.destroy();
    drawn = plot(chart, `${front.points.length} points of the front: ${front.axes[y].name} over ${front.axes[x].name}`, (now) => {
      const rows = front.points.map((p) => [p.values[x], p.values[y]]).sort((a, b) => a[0] - b[0]);
      return {
        data: [rows.map((r) => r[0]), rows.map((r) => r[1])],
        options: {
          scales: { x: { time: false } },
          axes: [axis(now, front.axes[x].name, text(x), 40), axis(now, front.axes[y].name, text(y), 84)],
          series: [
            { label: front.axes[x].name, value: (_, v) => (v === null ? "" : text(x)(v)) },
            { label: front.axes[y].name, stroke: now.partitions[0], width: 1, paths: globalThis.uPlot.paths.stepped({ align: 1 }), points: { show: true, size: 8, fill: now.partitions[0] }, value: (_, v) => (v === null ? "" : text(y)(v)) },
          ],
        },
      };
    });
  }
  const axes = front.axes.length > 2 ? html("p", { class: "tools" }, choice(y, (k) => { y = k; draw(); }), " over ", choice(x, (k) => { x = k; draw(); })) : null;
  replace(element, axes, chart);
  draw();
  return { destroy: () => drawn.destroy() };
}
