// The past, in at most so many stretches of equal length.

import { COLOURS, OTHERS } from "./dom.js";

export function stretches(history, most) {
  if (history.length === 0) return [];
  const unit = history[0].seconds;
  const first = history[0].time;
  const last = history.at(-1).time + unit;
  const seconds = unit * Math.ceil((last - first) / unit / Math.max(most, 1)); // a chart that is not shown has no width
  const merged = [];
  for (const moment of history) {
    const number = Math.floor((moment.time - first) / seconds);
    // Without a prototype: an action may be called "constructor".
    merged[number] ??= { time: first + number * seconds, seconds, decisions: Object.create(null), rewards: 0, earned: 0, weight: 0, uniform: 0 };
    const stretch = merged[number];
    for (const [action, decisions] of Object.entries(moment.decisions)) {
      stretch.decisions[action] = (stretch.decisions[action] ?? 0) + decisions;
    }
    stretch.rewards += moment.rewards;
    stretch.earned += moment.rewards * (moment.average_reward ?? 0);
    stretch.weight += moment.uniform_weight;
    stretch.uniform += moment.uniform_weight * (moment.uniform_value ?? 0);
  }
  return merged.filter((stretch) => stretch !== undefined);
}

// What uniform play would have earned, by all rewards so far: one stretch alone has too few draws that explore.
export function uniformValues(past) {
  let weight = 0;
  let sum = 0;
  return past.map((stretch) => {
    weight += stretch.weight;
    sum += stretch.uniform;
    return sum / weight;
  });
}

// Actions to tell apart: of each colour the one that is chosen most, in their own order; the rest are one.
export function groups(actions) {
  const places = actions.map((action, place) => ({ name: action.name, place, decisions: action.decisions }));
  const ranked = places.filter((action) => action.decisions > 0).sort((a, b) => b.decisions - a.decisions);
  const first = new Map();
  for (const action of ranked) {
    const colour = action.place % COLOURS;
    if (!first.has(colour)) first.set(colour, action);
  }
  const shown = [...first.values()].sort((a, b) => a.place - b.place);
  const rest = ranked.filter((action) => !shown.includes(action)).map((action) => action.name);
  const found = shown.map(({ name, place }) => ({ label: name, colour: place, names: [name] }));
  return rest.length === 0 ? found : [...found, { label: OTHERS, colour: OTHERS, names: rest }];
}
