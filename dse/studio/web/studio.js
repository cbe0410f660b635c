// The live page: what the server says is shown, what people do is said to it (dse/studio/messages.py, answers.py).

import { readView } from "/report/columns.js";
import { curveView } from "/report/curve.js";
import { html, replace } from "/report/dom.js";
import { changeText, countText, timeText } from "/report/format.js";
import { ganttView } from "/report/gantt.js";
import { networkView } from "/report/network.js";
import { followPalette } from "/report/palette.js";
import { actorTable, bufferTable, partitionTable } from "/report/tables.js";
import { connect } from "/studio/connection.js";
import { actorPanel, fifoPanel, partitionPanel, unitPanel } from "/studio/panels.js";
import { explorePanel, searchPanel } from "/studio/searches.js";

const at = (id) => document.getElementById(id);
const page = { hello: null, state: null, selected: -1, sent: 0 };
let views = null, before = null, newest = -1;

const connection = connect({
  hello: greeted, state: stated, estimate: estimated, search: searched, explore: explored,
  error: (answer) => trouble(`${answer.message}${answer.expected ? `\n${answer.expected}` : ""}`),
  saved: (answer) => note(`written to ${answer.file}`),
  lost: (text) => { page.lost = true; trouble(text); },
  found: () => { page.lost = false; trouble(""); },
});

/** Say something to the server; the answer comes when it comes. */
function say(type, fields = {}) {
  trouble("");
  page.sent = performance.now();
  if (!connection.say({ type, ...fields })) trouble("The server cannot be reached: this was not done.");
}

function trouble(text) {
  if (page.lost && !text) return;
  at("trouble").textContent = text;
  at("trouble").hidden = !text;
  if (text && page.state) controls();
}

function note(text) {
  replace(at("saved"), text);
}

function greeted(hello) {
  if (page.hello && JSON.stringify(page.hello.network) !== JSON.stringify(hello.network)) location.reload();
  page.hello = hello;
  const { network } = hello;
  document.title = `${network.name}: dse studio`;
  at("title").textContent = network.name;
  at("about").textContent = `${countText(hello.firings)} firings of ${network.actors.length} actors on ${hello.platform}; results go to ${hello.folder}`;
  at("assumed").textContent = hello.assumed.length ? `Assumed: ${hello.assumed.join("; ")}` : "";
  if (views) return;
  drawTools();
  views = {
    network: networkView(at("network"), network, { onSelect: select, onMove: moved }),
    gantt: ganttView(at("timeline"), network, { onSelect: (actor) => choose(actor) }),
    search: searchPanel(at("search"), say),
    explore: explorePanel(at("explore"), say),
    curve: null,
  };
}

function drawTools() {
  const button = (id, text, title, action) => html("button", { type: "button", id, title, onclick: action }, text);
  replace(at("tools"),
    button("undo", "undo", "undo the last change (Ctrl+Z)", () => say("undo")),
    button("redo", "redo", "make it again (Ctrl+Shift+Z)", () => say("redo")),
    button("pin", "pin", "compare all that follows with this design", () => say("pin", { pinned: !page.state.pinned })),
    button("save", "save as XCF", "write the mapping into the folder of the results", () => say("save")),
    button("share", "share as HTML", "write one file that shows this design without a server", () => say("share")),
    html("span", { id: "saved", role: "status" }));
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("input")) return;
    event.preventDefault();
    say(event.shiftKey ? "redo" : "undo");
  });
}

function stated(state) {
  page.state = state;
  document.body.classList.add("waiting");
  at("main").hidden = false;
  at("undo").disabled = !state.undo;
  at("redo").disabled = !state.redo;
  at("pin").textContent = state.pinned ? "unpin" : "pin";
  at("pin").setAttribute("aria-pressed", String(state.pinned));
  at("mapping").textContent = state.mapping;
  controls();
}

/** Draw all controls as the design is; what has the focus keeps it. */
function controls() {
  const focused = document.activeElement?.id;
  actorPanel(at("actor"), page, say);
  partitionPanel(at("partitions"), page, say);
  unitPanel(at("units"), page, say);
  fifoPanel(at("fifos"), page, say);
  if (focused && document.activeElement?.id !== focused) at(focused)?.focus();
}

async function estimated(answer) {
  newest = answer.revision;
  const view = answer.view ? await readView(answer.view) : null;
  if (answer.revision !== newest) return;
  document.body.classList.remove("waiting");
  if (!view) {
    at("makespan").textContent = "cannot be estimated";
    replace(at("change"), "");
    replace(at("lines"));
    replace(at("reasons"), html("li", {}, answer.error.message), answer.error.expected ? html("li", {}, answer.error.expected) : null);
  } else {
    show(view, answer.change);
  }
  document.documentElement.dataset.shown = String(answer.revision);
  document.documentElement.dataset.latency = (performance.now() - page.sent).toFixed(1);
}

function show(view, change) {
  const time = timeText(view.makespan, view.unit);
  at("makespan").textContent = view.deadlock ? `deadlock after ${time}` : time;
  compared(view, change);
  replace(at("reasons"), ...view.lines.map((line) => html("li", {}, line)));
  views.network.show(view);
  newPlaces(view);
  views.network.select(page.selected);
  views.gantt.show(view);
  partitionTable(at("of-partitions"), view);
  actorTable(at("of-actors"), page.hello.network, view, { before, onActor: choose });
  bufferTable(at("of-fifos"), page.hello.network, view);
  before = view;
}

function compared(view, change) {
  const from = change?.pinned ? "the pinned design" : "before", place = at("change");
  place.className = "";
  if (!change) replace(place, "");
  else if (change.deadlock || view.deadlock) replace(place, change.deadlock ? `${from}: deadlock` : `${from}: ${timeText(change.makespan, change.unit)}`);
  else {
    const text = changeText(view.makespan, change.makespan);
    place.className = view.makespan < change.makespan ? "better" : view.makespan > change.makespan ? "worse" : "";
    replace(place, text === "the same" ? `the same as ${from}` : `${text} against ${timeText(change.makespan, change.unit)} ${from}`);
  }
  const lines = change?.lines ?? [];
  replace(at("lines"), ...(lines.length ? lines : [change ? "No actor's time changed." : "Nothing yet."]).map((line) => html("li", {}, line)));
}

/** Let actors be dragged to a new partition on each unit, too: places behind those that are there. */
function newPlaces(view) {
  const legend = at("network").querySelector(".legend");
  legend.append(...page.hello.units.map((unit, index) => html("li", { class: "chip new", "data-partition": view.partitions.length + index }, `new partition on ${unit.name}`)));
}

function moved(actor, place) {
  const { partitions } = page.state, unit = page.hello.units[place - partitions.length];
  if (place < partitions.length) say("move", { actor, partition: partitions[place].id });
  else if (unit) say("move", { actor, unit: unit.id });
}

/** Take an actor for the selected one, and go to its first firing. */
function select(actor) {
  choose(actor);
  const timeline = views.gantt.view()?.timeline;
  if (timeline && timeline.first[actor] < timeline.first[actor + 1]) views.gantt.select(actor, timeline.index[timeline.first[actor]]);
}

function choose(actor) {
  if (page.selected === actor) return;
  page.selected = actor;
  views.network.select(actor);
  actorPanel(at("actor"), page, say);
}

function searched(answer) {
  views.search.show(answer);
}

function explored(answer) {
  at("explore").hidden = false;
  views.explore.show(answer);
  if (!answer.steps.length) return;
  const search = { found: answer.steps.map(([number, ticks]) => [number - 1, ticks]), evaluations: answer.evaluations, bound: 0, unit: answer.unit };
  if (views.curve) views.curve.show(search);
  else views.curve = curveView(at("curve"), search);
}

document.documentElement.classList.add("scripted");
followPalette();
