// Searches: the one that begins at the design, and the one of another process that writes into the folder of the results.

import { html, replace } from "/report/dom.js";
import { changeText, countText, timeText } from "/report/format.js";

const ENDS = { proven: "no mapping is better", ended: "its time is over", stopped: "stopped", failed: "it could not begin", searching: "searching" };

/** Start and stop a search, and what it has so far. Returns {show(answer)}. */
export function searchPanel(element, say) {
  const seconds = html("input", { id: "seconds", class: "short", type: "text", inputmode: "numeric", value: "30" });
  const start = html("button", { type: "button", id: "start-search", onclick: () => say("search", { seconds: Number(seconds.value) }) }, "search from here");
  const stop = html("button", { type: "button", id: "stop-search", disabled: true, onclick: () => say("stop") }, "stop");
  const take = html("button", { type: "button", id: "take-search", disabled: true, onclick: () => say("take", { found_by: "search" }) }, "take the best");
  const said = html("p", { id: "search-said", class: "row", role: "status" });
  replace(element, html("label", {}, "seconds", seconds), start, stop, take, said);
  return {
    show(answer) {
      const running = answer.state === "searching";
      start.disabled = running;
      stop.disabled = !running;
      take.disabled = answer.mapping === null;
      said.dataset.state = answer.state;
      replace(said, searchText(answer));
    },
  };
}

function mappings({ evaluations }) {
  return `${countText(evaluations)} ${evaluations === 1 ? "mapping" : "mappings"}`;
}

function searchText(answer) {
  const parts = [ENDS[answer.state] + (answer.message ? `: ${answer.message}` : ""), `${mappings(answer)} in ${answer.seconds} s`];
  if (answer.best !== null) {
    const change = answer.start === null ? "" : ` (${changeText(answer.best, answer.start)} against where it began)`;
    parts.push(`best so far ${timeText(answer.best, answer.unit)}${change}`);
    if (answer.bound) parts.push(`no mapping takes less than ${timeText(answer.bound, answer.unit)}`);
    parts.push(answer.mapping);
  }
  return parts.join("; ");
}

/** What a search in the folder of the results has found. Returns {show(answer)}. */
export function explorePanel(element, say) {
  const take = html("button", { type: "button", id: "take-explore", onclick: () => say("take", { found_by: "explore" }) }, "take its best");
  const said = html("p", { id: "explore-said", role: "status" });
  replace(element, said, take);
  return {
    show(answer) {
      const best = answer.steps.at(-1);
      take.disabled = answer.mapping === null;
      said.dataset.state = answer.running ? "searching" : "ended";
      replace(said, `dse explore in this folder ${answer.running ? "is searching" : "has ended"}: ${mappings(answer)}`
        + (best ? `, the best takes ${timeText(best[1], answer.unit)}` : ", none completes yet")
        + (answer.same ? "" : "; it searches other inputs than this page has"));
    },
  };
}
