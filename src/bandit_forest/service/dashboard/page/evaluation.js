// What other policies would have earned on the same events, in words and in numbers.

import { amount, count, make } from "./dom.js";

const NAMES = { uniform: "uniform play", forest: "the forest" };

export function evaluationParts({ policies }) {
  const verdicts = policies.map((told) => make("p", { class: "verdict" }, told.verdict));
  const heads = ["policy", "would have earned", "gain per decision", "gain, at any time", "effective events"];
  const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
  const rows = policies.map((told) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, NAMES[told.policy] ?? told.policy),
      make("td", { class: "number" }, within(amount(told.value), told.low, told.high)),
      make("td", { class: "number" }, within(signed(told.gain), told.gain_low, told.gain_high, signed)),
      make("td", { class: "number" }, `${signed(told.always_low)} to ${signed(told.always_high)}`),
      make("td", { class: "number" }, `${count(Math.round(told.effective_sample_size))} of ${count(told.events)}`),
    ),
  );
  return [...verdicts, make("table", {}, make("thead", {}, head), make("tbody", {}, rows))];
}

const signed = (number) => (number !== null && number > 0 ? `+${amount(number)}` : amount(number));
const within = (text, low, high, write = amount) => (low === null ? text : `${text} (${write(low)} to ${write(high)})`);
