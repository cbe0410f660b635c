// The controls of a design. Each is drawn anew from what the server says; its id stays, so that the focus does.

import { html, replace } from "/report/dom.js";
import { words } from "/report/format.js";
import { partitionVariable } from "/report/palette.js";

const MOST_FIFOS = 400;

function choice(id, label, options, chosen, change) {
  return html("label", {}, label, html("select", { id, onchange: (event) => change(event.target.value) },
    ...options.map(([value, text]) => html("option", { value, selected: value === chosen }, text))));
}

/** A field for a number: what is typed is said when it is left, or at Enter. */
function number(id, label, value, change, attributes = {}) {
  const input = html("input", { id, class: "number", type: "text", inputmode: "decimal", autocomplete: "off", value, onchange: () => change(input.value.trim()), ...attributes });
  return html("label", {}, label, input);
}

function swatch(partition) {
  return html("span", { class: "swatch", style: { background: partitionVariable(partition) } });
}

/** The partition of the selected actor, the cost of its actions, and whether a search may move it. */
export function actorPanel(element, page, say) {
  const { state, hello, selected: actor } = page;
  if (!state || actor < 0) {
    replace(element, html("span", { class: "note" }, "Select an actor to move it, or to change what its actions cost."));
    return;
  }
  const { name, actions } = hello.network.actors[actor], owner = state.partitions.findIndex((p) => p.actors.includes(actor));
  const places = [...state.partitions.map((p, k) => [`p${k}`, p.name]), ...hello.units.map((u, k) => [`u${k}`, `new partition on ${u.name}`])];
  const scales = new Map(state.scales.filter(([of]) => of === actor).map(([, action, factor]) => [action, factor]));
  const scale = (action, label, value) => number(`scale-${actor}-${action ?? "all"}`, label, value,
    (factor) => say("scale", { actor, factor, ...(action === null ? {} : { action }) }), { class: "short" });
  replace(element,
    html("b", {}, swatch(owner), name),
    choice("move-to", "partition", places, `p${owner}`, (value) => say("move", value.startsWith("p")
      ? { actor, partition: state.partitions[Number(value.slice(1))].id } : { actor, unit: hello.units[Number(value.slice(1))].id })),
    html("label", {}, html("input", { id: "fixed", type: "checkbox", checked: state.fixed.includes(actor), onchange: (event) => say("fix", { actor, fixed: event.target.checked }) }), "a search leaves it on its unit"),
    html("div", { class: "row", role: "group", "aria-label": `cost of ${name}, times its weight` },
      html("span", { class: "note" }, "cost of computing, times its weight:"),
      actions.length > 1 ? scale(null, "all actions", "") : null,
      ...actions.map((action, k) => scale(k, action, scales.get(k) ?? "1"))));
}

/** Policy, cores and unit of each partition, and what holds for all. */
export function partitionPanel(element, page, say) {
  const { state, hello } = page, policies = hello.policies.map((policy) => [policy, words(policy)]);
  const units = hello.units.map((u) => [u.id, u.name]);
  replace(element,
    ...state.partitions.map((p, k) => html("div", { class: "row", role: "group", "aria-label": `partition ${p.name}` },
      html("b", {}, swatch(k), p.name),
      choice(`policy-${k}`, "policy", policies, p.policy, (policy) => say("policy", { partition: p.id, policy })),
      number(`cores-${k}`, "cores", p.cores, (text) => say("cores", { partition: p.id, cores: whole(text) }), { class: "short" }),
      units.length > 1 ? choice(`unit-${k}`, "unit", units, p.unit, (unit) => say("unit", { partition: p.id, unit })) : null)),
    html("div", { class: "row" },
      choice("transfers", "transfers of a firing", [["sequential", "one after the other"], ["parallel", "at once"]], state.transfers, (transfers) => say("modes", { transfers })),
      choice("release", "input space is free", [["reading", "after reading"], ["processing", "after computing"]], state.release, (release) => say("modes", { release }))));
}

/** The clock of each unit that has one. */
export function unitPanel(element, page, say) {
  const { state, hello } = page;
  replace(element, ...hello.units.filter((u) => u.clock !== null).map((u, k) => {
    const range = u.range ? ` (${u.range[0]} to ${u.range[1]})` : "", used = state.partitions.some((p) => p.unit === u.id);
    return number(`clock-${k}`, `clock of ${u.name} in MHz${range}`, state.clocks[u.id] ?? "",
      (text) => say("clock", { unit: u.id, mhz: text || null }), { placeholder: u.clock, disabled: !used });
  }));
}

/** The size of each FIFO, or of those of the selected actor where there are many. */
export function fifoPanel(element, page, say) {
  const { state, hello, selected } = page, { buffers } = hello.network;
  const shown = buffers.map((of, k) => [of, k]).filter(([of]) => buffers.length <= MOST_FIFOS || of.source === selected || of.target === selected);
  replace(element,
    html("div", { class: "row" }, number("size-all", "all FIFOs, in tokens", "", (text) => say("resize", { tokens: whole(text) }))),
    shown.length < buffers.length ? html("p", { class: "note row" }, `${buffers.length} FIFOs: those of the selected actor are shown.`) : null,
    ...shown.map(([of, k]) => number(`size-${k}`, of.name, state.capacities[k], (text) => say("resize", { fifo: k, tokens: whole(text) }))));
}

/** Return a whole number; of a text that is none the text itself, so that the server says what is wrong. */
function whole(text) {
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : text;
}
