// What the page shows beside its charts, made from the answers of the service.

import { amount, bytes, clock, colourOf, count, make, percent, plural, probability, short } from "./dom.js";

export function tiles(status) {
  const { average_reward: average, uniform_value: uniform } = status;
  const ahead = average === null || uniform === null ? null : average - uniform;
  const late = [
    status.expired > 0 ? plural(status.expired, "expired", "expired") : null,
    status.late > 0 ? plural(status.late, "late", "late") : null,
  ].filter(Boolean);
  return [
    tile("Average reward", amount(average), ahead === null ? "no rewards yet" : versus(ahead, uniform), "main"),
    tile("Decisions", short(status.decisions), plural(status.rewards, "reward", "rewards")),
    tile("Waiting rewards", short(status.waiting), late.join(", ") || "none expired"),
    tile("Events learned", short(status.model_version), `${short(status.n_nodes)} nodes, ${bytes(status.n_bytes)}`),
  ];
}

const tile = (label, value, note, kind = "") =>
  make("div", { class: `card tile ${kind}` }, make("h2", {}, label), make("strong", {}, value), make("p", {}, note));

function versus(ahead, uniform) {
  const share = uniform > 0 ? ` (${ahead < 0 ? "−" : "+"}${percent(Math.abs(ahead) / uniform)})` : "";
  const sign = ahead < 0 ? "" : "+";
  return `${sign}${amount(ahead)}${share} against uniform play, ${amount(uniform)}`;
}

export function actionTable(actions) {
  const averages = actions.map((action) => action.average_reward).filter((average) => average !== null);
  const highest = Math.max(...averages, 1e-9);
  const lowest = Math.min(...averages, 0);
  const rows = actions.map((action, place) =>
    make(
      "tr",
      { class: action.state },
      make("th", { scope: "row" }, named(action.name, place), stateOf(action)),
      make("td", { class: "number" }, short(action.decisions)),
      make("td", {}, bar((action.average_reward - lowest) / (highest - lowest), colourOf(place), amount(action.average_reward))),
    ),
  );
  const head = make("tr", {}, ...["action", "decisions", "average reward"].map((text) => make("th", { scope: "col" }, text)));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, rows));
}

// Fixed actions have a place and its colour, offered ones have neither.
export const named = (name, place) =>
  make("span", { class: place === undefined ? "action" : `action ${colourOf(place)}`, title: name }, make("span", {}, name));

const stateOf = (action) => (action.state === "enabled" ? null : make("span", { class: "badge" }, action.state));

export function bar(share, colour, text) {
  const filled = make("span", { class: `fill ${colour}` });
  filled.style.width = `${100 * Math.min(Math.max(share || 0, 0), 1)}%`;
  return make("div", { class: "bar" }, make("div", { class: "track" }, filled), make("span", { class: "number" }, text));
}

export function importanceList(variables) {
  const shown = variables.filter((variable) => variable.importance > 0).slice(0, 8);
  if (shown.length === 0) return make("p", { class: "nothing" }, "The trees have not split yet.");
  return shares(shown.map(({ name, importance }) => [name, importance]), shown[0].importance);
}

// Bars of shares with their names, the largest as wide as there is room.
export function shares(entries, largest) {
  const rows = entries.map(([name, share]) =>
    make("li", {}, make("span", { class: "name", title: name }, name), bar(share / largest, "plain", percent(share))),
  );
  return make("ol", { class: "importance" }, rows);
}

export function decisionRow(event, places) {
  const earned = event.state === "waiting" || event.reward === null ? event.state : amount(event.reward);
  return make(
    "summary",
    {},
    make("time", {}, clock(event.time, { exact: true })),
    named(event.action, places.get(event.action)),
    make("span", { class: "number drawn", title: "the probability with which it was drawn" }, probability(event.propensity)),
    make("span", { class: `number state ${event.state}` }, earned),
  );
}

export function explanation(told, places) {
  if (told.explanation === null) return [drawn(told), make("p", {}, "The forest is not made yet.")];
  const { propensities, n_trees: trees, tests } = told.explanation;
  const known = Object.values(told.mean_rewards).filter((mean) => mean !== null);
  const highest = Math.max(...known, 1e-9);
  const lowest = Math.min(...known, 0);
  const actions = Object.entries(told.mean_rewards).sort((a, b) => (b[1] ?? -Infinity) - (a[1] ?? -Infinity));
  const rows = actions.map(([name, mean]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, named(name, places.get(name) ?? 0)),
      make("td", {}, bar((mean - lowest) / (highest - lowest), colourOf(places.get(name) ?? 0), amount(mean))),
      make("td", { class: "number" }, told.votes[name]),
      make("td", { class: "number" }, probability(propensities[name])),
    ),
  );
  const head = make("tr", {}, ...["as seen now", "mean reward", "votes", "drawn"].map((text) => make("th", { scope: "col" }, text)));
  return [
    drawn(told),
    make("table", {}, make("thead", {}, head), make("tbody", {}, rows)),
    ...tested(tests.slice(0, 10), trees),
    make("p", { class: "hint" }, `Event ${told.event_id}`),
  ];
}

export function drawn(told) {
  const events = plural(told.model_version, "event", "events");
  return make("p", {}, `Drawn with probability ${probability(told.propensity)} after ${events} learned. ${fate(told)}`);
}

function fate(told) {
  const shadow = told.forest_action ? ` The forest would have chosen ${told.forest_action}.` : "";
  const fates = {
    waiting: "Its reward is awaited.",
    rewarded: `It earned ${amount(told.reward)}.`,
    expired: told.reward === null ? "No reward came in time." : `No reward came in time: it counts as ${amount(told.reward)}.`,
    learned: `It was decided elsewhere and earned ${amount(told.reward)}.`,
  };
  return fates[told.state] + shadow;
}

function tested(tests, trees) {
  if (tests.length === 0) return [make("p", {}, "The trees have not split yet.")];
  const rows = tests.map(({ variable, value, trees: made }) =>
    make("li", { class: value ? "yes" : "no" }, make("span", {}, variable), make("b", {}, value ? "yes" : "no"), make("small", {}, count(made))),
  );
  return [make("h3", {}, `Tested most on the paths of ${plural(trees, "tree", "trees")}`), make("ul", { class: "tests" }, rows)];
}
