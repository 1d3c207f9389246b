// The past, in at most so many stretches of equal length.

import { OTHERS } from "./dom.js";

export function stretches(history, most) {
  if (history.length === 0) return [];
  const unit = history[0].seconds;
  const first = history[0].time;
  const last = history.at(-1).time + unit;
  const seconds = unit * Math.ceil((last - first) / unit / most);
  const merged = [];
  for (const moment of history) {
    const number = Math.floor((moment.time - first) / seconds);
    merged[number] ??= { time: first + number * seconds, seconds, decisions: {}, rewards: 0, earned: 0, uniform: 0 };
    const stretch = merged[number];
    for (const [action, decisions] of Object.entries(moment.decisions)) {
      stretch.decisions[action] = (stretch.decisions[action] ?? 0) + decisions;
    }
    stretch.rewards += moment.rewards;
    stretch.earned += moment.rewards * (moment.average_reward ?? 0);
    stretch.uniform += moment.rewards * (moment.uniform_value ?? 0);
  }
  return merged.filter((stretch) => stretch !== undefined);
}

// Actions to tell apart: those that are chosen most, in their own order; the rest are one.
export function groups(actions, most) {
  const places = actions.map((action, place) => ({ name: action.name, place, decisions: action.decisions }));
  const ranked = places.filter((action) => action.decisions > 0).sort((a, b) => b.decisions - a.decisions);
  const shown = ranked.length <= most ? ranked : ranked.slice(0, most - 1);
  const rest = ranked.slice(shown.length).map((action) => action.name);
  const found = shown
    .sort((a, b) => a.place - b.place)
    .map(({ name, place }) => ({ label: name, colour: place, names: [name] }));
  return rest.length === 0 ? found : [...found, { label: OTHERS, colour: OTHERS, names: rest }];
}
