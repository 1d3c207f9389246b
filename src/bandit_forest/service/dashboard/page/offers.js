// What the page shows of a service whose events offer their own actions.

import { amount, make, probability } from "./dom.js";
import { bar, drawn, importanceList, named, shares } from "./sections.js";

const LIMITS = [0, 0.001, 0.01, 0.1, 0.5, 0.9, 1]; // all but the first are bounds of the service's histogram
const MOST_RANKS = 20;
const MOST_CHIPS = 8;

export function propensityList({ propensity_bounds: bounds, propensity_counts: counts }) {
  const total = counts.reduce((sum, decisions) => sum + decisions, 0);
  if (total === 0) return make("p", { class: "nothing" }, "No decisions yet.");
  const upTo = (limit) => bounds.reduce((sum, bound, i) => (bound <= limit ? sum + counts[i] : sum), 0);
  const found = LIMITS.slice(1).map((limit, i) => [`${LIMITS[i]} to ${limit}`, (upTo(limit) - upTo(LIMITS[i])) / total]);
  return shares(found.reverse(), Math.max(...found.map(([, share]) => share)));
}

export function importanceBySide(features) {
  const found = features.filter((feature) => feature.importance > 0);
  if (found.length === 0) return importanceList(found);
  const sides = [["Of the context", "context."], ["Of the offered action", "action."]];
  return make("div", {}, sides.flatMap(([title, prefix]) => {
    const own = found.filter(({ name }) => name.startsWith(prefix)).slice(0, 8);
    const entries = own.map(({ name, importance }) => [name.slice(prefix.length), importance]);
    return own.length === 0 ? [] : [make("h3", {}, title), shares(entries, found[0].importance)];
  }));
}

export function offerExplanation(told) {
  const seen = told.explanation;
  const means = seen === null ? null : Object.values(seen.mean_rewards);
  const rows = told.ranking.slice(0, MOST_RANKS).map(({ id, propensity }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, named(id)),
      seen === null ? null : make("td", {}, estimate(seen.mean_rewards[id], Math.min(...means, 0), Math.max(...means, 1e-9))),
      make("td", { class: "number" }, probability(propensity)),
    ),
  );
  const heads = ["ranking", seen === null ? null : "mean reward, as seen now", "drawn first"].filter(Boolean);
  const head = make("tr", {}, heads.map((text) => make("th", { scope: "col" }, text)));
  const more = told.ranking.length - rows.length;
  return [
    drawn(told),
    make("table", { class: "ranking" }, make("thead", {}, head), make("tbody", {}, rows)),
    ...(more > 0 ? [make("p", { class: "hint" }, `and ${more} more`)] : []),
    ...(seen === null ? [make("p", { class: "hint" }, unseen(told))] : [...reasons(seen), ...changes(seen)]),
    make("p", { class: "hint" }, `Event ${told.event_id}`),
  ];
}

const estimate = (mean, lowest, highest) => bar((mean - lowest) / (highest - lowest), "plain", amount(mean));

const unseen = (told) =>
  told.state === "waiting" ? "The forest is not made yet." : "The features of what was offered are forgotten once the event is over.";

function reasons({ best, reasons: told }) {
  const ahead = told.filter((reason) => reason.difference > 0).slice(0, MOST_CHIPS);
  return chips(`${best} is ahead of the second best by its`, ahead, ({ feature, difference }) => [
    make("span", {}, feature),
    make("small", {}, `+${amount(difference)}`),
  ]);
}

function changes({ changes: told }) {
  return chips("Another would be the best with", told.slice(0, MOST_CHIPS), ({ side, test, action }) => [
    make("span", {}, test),
    make("small", {}, side),
    make("b", {}, action),
  ]);
}

function chips(title, entries, parts) {
  if (entries.length === 0) return [];
  return [make("h3", {}, title), make("ul", { class: "tests" }, entries.map((entry) => make("li", {}, parts(entry))))];
}
