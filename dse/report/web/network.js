// A picture of a network on a mapping: actors as boxes, coloured by partition, and lines for FIFOs.

import { html, replace, svg } from "./dom.js";
import { countText, shareText } from "./format.js";
import { layoutNetwork, shortName } from "./network_layout.js";
import { MOST_ROUNDS, onPartitionVariable, partitionRound, partitionVariable } from "./palette.js";
import { partitionSwatch } from "./tables.js";

const STRIPES = ["M1,0 v5", "M0,1 h5", "M-1,1 l2,-2 M0,5 l5,-5 M4,6 l2,-2"]; // of the strip below a box, as .swatch has them
const STRIP = 6;
let pictures = 0;

/**
 * Draw a network into an element. Options: `onSelect(actor)` where an actor is clicked; `onMove(actor, partition)` where
 * one is dragged to a partition, or moved there by keys (m). Returns {show(view), select(actor), destroy()}.
 */
export function networkView(element, network, options = {}) {
  const number = (pictures += 1);
  const legend = html("ul", { class: "legend", "aria-label": "partitions" });
  const picture = html("div", { class: "network-picture" });
  const said = html("p", { class: "said", role: "status" });
  replace(element, legend, picture, said);
  let view = null, width = 0, selected = -1, boxes = [], lines = [], laidOut = null;

  function draw() {
    const now = Math.max(300, element.clientWidth);
    if (!laidOut || Math.abs(now - width) > 24) {
      width = now;
      laidOut = layoutNetwork(network, width);
    }
    const most = Math.max(1, ...laidOut.lines.map(tokensOf));
    lines = laidOut.lines.map((line) => drawLine(line, tokensOf(line) / most));
    boxes = laidOut.boxes.map(drawBox);
    const canvas = svg("svg", {
      viewBox: `0 0 ${Math.ceil(laidOut.width)} ${Math.ceil(laidOut.height)}`, width: Math.ceil(laidOut.width),
      role: "group", "aria-label": `network ${network.name}, ${network.actors.length} actors`,
    }, arrow(), ...lines.map(({ mark }) => mark), ...boxes);
    replace(picture, canvas);
    colour();
  }

  function tokensOf(line) {
    return line.buffers.reduce((sum, buffer) => sum + network.buffers[buffer].tokens, 0);
  }

  function arrow() {
    const head = svg("path", { d: "M0,0 L7,3.5 L0,7 z", class: "arrow" });
    return svg("defs", {}, svg("marker", {
      id: `arrow-${number}`, viewBox: "0 0 7 7", refX: 7, refY: 3.5, markerWidth: 7, markerHeight: 7,
      orient: "auto", markerUnits: "userSpaceOnUse",
    }, head), ...STRIPES.map((d, k) => svg("pattern", {
      id: `round-${k + 1}-${number}`, width: 5, height: 5, patternUnits: "userSpaceOnUse",
    }, svg("path", { d, class: "stripe" }))));
  }

  function drawLine(line, share) {
    const names = line.buffers.map((b) => `${network.buffers[b].name}: ${countText(network.buffers[b].tokens)} tokens`);
    const mark = svg("path", {
      d: line.path, class: "fifo", "stroke-width": (0.9 + 1.3 * share).toFixed(2), "marker-end": `url(#arrow-${number})`,
    }, svg("title", {}, names.join("\n")));
    return { ...line, mark };
  }

  function drawBox({ x, y, width: wide, height }, actor) {
    const { name } = network.actors[actor];
    const box = svg("g", {
      class: "actor", tabindex: 0, role: "button", "data-actor": actor, transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`,
      onclick: () => choose(actor),
      onkeydown: (event) => pressed(event, actor),
      onfocus: () => tell(actor),
      onpointerenter: () => tell(actor),
    },
    svg("rect", { width: wide, height, rx: 5 }),
    svg("rect", { class: "round", x: 3, y: height - STRIP, width: wide - 6, height: STRIP - 1, fill: "none" }),
    svg("text", { x: wide / 2, y: height / 2 + 4.2, "text-anchor": "middle" }, shortName(name)),
    svg("title", {}, name));
    if (options.onMove) dragging(box, actor);
    return box;
  }

  function colour() {
    if (!view || !boxes.length) return;
    boxes.forEach((box, actor) => {
      const p = view.owner[actor];
      box.style.setProperty("--fill", partitionVariable(p));
      box.style.setProperty("--on", onPartitionVariable(p));
      const round = Math.min(MOST_ROUNDS, partitionRound(p));
      box.querySelector(".round").style.setProperty("fill", round ? `url(#round-${round}-${number})` : "none");
      box.setAttribute("aria-label", `${network.actors[actor].name} on ${view.partitions[p].name}`);
      box.classList.toggle("selected", actor === selected);
    });
    for (const line of lines) {
      const across = view.owner[line.source] !== view.owner[line.target];
      line.mark.classList.toggle("across", across);
      line.mark.classList.toggle("of-selected", line.source === selected || line.target === selected);
      line.mark.style.setProperty("--fill", partitionVariable(view.owner[line.source]));
    }
  }

  function drawLegend() {
    replace(legend, ...view.partitions.map((p, index) => {
      const count = view.owner.filter((of) => of === index).length;
      const busy = p.times.slice(0, 5).reduce((a, b) => a + b, 0), whole = p.times.reduce((a, b) => a + b, 0);
      return html("li", { class: "chip", "data-partition": index },
        partitionSwatch(index),
        html("b", {}, p.name),
        ` ${p.unit}${p.cores > 1 ? `, ${p.cores} cores` : ""}, ${count} ${count === 1 ? "actor" : "actors"}, ${shareText(busy, whole) || "0 %"} busy`);
    }), html("li", { class: "key" }, html("span", { class: "dashes" }), "FIFO between partitions"),
    partitionRound(view.partitions.length - 1) > MOST_ROUNDS ? html("li", { class: "key" }, "colours repeat: the name of an actor's partition stands below when you point at it") : null);
  }

  function tell(actor) {
    if (!view) return;
    const account = view.actors[actor], p = view.partitions[view.owner[actor]];
    const busy = account.slice(0, 5).reduce((a, b) => a + b, 0);
    const move = options.onMove ? "; m moves it to the next partition" : "";
    said.textContent = `${network.actors[actor].name} (${network.actors[actor].class}) on ${p.name}: `
      + `${countText(account[9])} firings, busy ${shareText(busy, view.makespan) || "0 %"} of the run${move}`;
  }

  function choose(actor) {
    select(actor);
    options.onSelect?.(actor);
  }

  function pressed(event, actor) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(actor);
    } else if (event.key === "m" && options.onMove && view.partitions.length > 1) {
      options.onMove(actor, (view.owner[actor] + 1) % view.partitions.length);
    }
  }

  /** Let an actor be dragged to the legend of a partition, or to an actor that is in it. */
  function dragging(box, actor) {
    let from = null;
    box.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY };
      box.setPointerCapture(event.pointerId);
    });
    box.addEventListener("pointermove", (event) => {
      if (!from || Math.hypot(event.clientX - from.x, event.clientY - from.y) < 5) return;
      box.classList.add("dragged");
      const scale = laidOut.width / box.ownerSVGElement.getBoundingClientRect().width;
      box.style.setProperty("translate", `${(event.clientX - from.x) * scale}px ${(event.clientY - from.y) * scale}px`);
      mark(partitionAt(event));
    });
    const end = (event) => {
      const moved = box.classList.contains("dragged"), target = moved ? partitionAt(event) : -1;
      from = null;
      box.classList.remove("dragged");
      box.style.removeProperty("translate");
      mark(-1);
      if (event.type === "pointerup" && target >= 0 && target !== view.owner[actor]) options.onMove(actor, target);
    };
    box.addEventListener("pointerup", end);
    box.addEventListener("pointercancel", end);

    function partitionAt(event) {
      for (const under of document.elementsFromPoint(event.clientX, event.clientY)) {
        const chip = under.closest("[data-partition]"), other = under.closest("[data-actor]");
        if (chip && legend.contains(chip)) return Number(chip.dataset.partition);
        if (other && other !== box && picture.contains(other)) return view.owner[Number(other.dataset.actor)];
      }
      return -1;
    }
    function mark(partition) {
      for (const chip of legend.children) chip.classList.toggle("target", Number(chip.dataset.partition ?? -2) === partition);
    }
  }

  function select(actor) {
    selected = actor;
    colour();
    if (actor >= 0) tell(actor);
  }

  const observer = new ResizeObserver(() => {
    if (view && Math.abs(Math.max(300, element.clientWidth) - width) > 24) draw();
  });
  observer.observe(element);
  return {
    show(next) {
      view = next;
      drawLegend();
      if (boxes.length) colour();
      else draw();
    },
    select,
    destroy() {
      observer.disconnect();
      replace(element);
    },
  };
}
