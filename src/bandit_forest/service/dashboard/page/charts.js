// Two charts over time, drawn anew for the width that there is. Pointing at one shows the numbers in its legend.

import { amount, clock, colourOf, count, draw, make } from "./dom.js";
import { groups, stretches, uniformValues } from "./history.js";

const HEIGHT = 220;
const EDGE = { top: 10, right: 12, bottom: 24, left: 46 };

export function rewardChart(place, status) {
  const past = stretches(status.history, Math.ceil(place.clientWidth / 8)).filter((stretch) => stretch.rewards > 0);
  // A stretch that has just begun has too few rewards for a mean.
  if (past.length > 2 && past.at(-1).rewards < past.at(-2).rewards / 4) past.pop();
  const lines = [
    { label: "average reward", kind: "earned", values: past.map((stretch) => stretch.earned / stretch.rewards) },
    { label: "uniform play, estimated", kind: "uniform", values: uniformValues(past) },
  ];
  if (past.length < 2) return place.replaceChildren(nothing("The curve begins with the second stretch of rewards."));
  const values = lines.flatMap((line) => line.values);
  const frame = makeFrame(place, past, Math.min(...values), Math.max(...values), amount);
  for (const line of lines.toReversed()) {
    const points = line.values.map((value, i) => `${frame.middle(i).toFixed(1)},${frame.y(value).toFixed(1)}`);
    frame.add(draw("polyline", { class: `line ${line.kind}`, points: points.join(" ") }));
  }
  frame.show(lines.map(({ label, kind, values: v }) => ({ label, colour: kind, at: (i) => amount(v[i]) })));
}

export function decisionsChart(place, status) {
  const past = stretches(status.history, Math.ceil(place.clientWidth / 10)).filter((stretch) => Object.keys(stretch.decisions).length > 0);
  if (past.length === 0) return place.replaceChildren(nothing("No decisions yet."));
  const layers = status.offers ? [{ label: "decisions", colour: 0, names: ["offered"] }] : groups(status.actions);
  const taken = (layer, stretch) => layer.names.reduce((sum, name) => sum + (stretch.decisions[name] ?? 0), 0);
  const tallest = Math.max(...past.map((stretch) => layers.reduce((sum, layer) => sum + taken(layer, stretch), 0)));
  const frame = makeFrame(place, past, 0, tallest, count);
  past.forEach((stretch, i) => {
    let below = 0;
    for (const layer of layers) {
      const above = below + taken(layer, stretch);
      const height = frame.y(below) - frame.y(above);
      const width = Math.max(frame.right(i) - frame.left(i) - 1, 1);
      frame.add(draw("rect", { class: colourOf(layer.colour), x: frame.left(i), y: frame.y(above), width, height }));
      below = above;
    }
  });
  frame.show(layers.map((layer) => ({ label: layer.label, colour: colourOf(layer.colour), at: (i) => count(taken(layer, past[i])) })));
}

export const nothing = (text) => make("p", { class: "nothing" }, text);

// Axes, scales, and a legend that follows the pointer.
function makeFrame(place, past, low, high, written) {
  const width = Math.max(place.clientWidth, 240);
  const [bottom, top, ticks] = scale(low, high);
  const start = past[0].time;
  const end = past.at(-1).time + past[0].seconds;
  const x = (time) => EDGE.left + ((time - start) / (end - start)) * (width - EDGE.left - EDGE.right);
  const y = (value) => HEIGHT - EDGE.bottom - ((value - bottom) / (top - bottom)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, "aria-hidden": "true" });
  for (const tick of ticks) {
    picture.append(
      draw("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(tick), y2: y(tick) }),
      draw("text", { class: "tick", x: EDGE.left - 8, y: y(tick) + 4, "text-anchor": "end" }, written(tick)),
    );
  }
  const span = end - start;
  const form = { exact: span < 600, day: span > 86_400 };
  const labels = Math.max(2, Math.min(6, Math.floor(width / (form.day ? 150 : 110))));
  for (let i = 0; i < labels; i += 1) {
    const time = start + (span * i) / (labels - 1);
    const anchor = i === 0 ? "start" : i === labels - 1 ? "end" : "middle";
    picture.append(draw("text", { class: "tick", x: x(time), y: HEIGHT - 6, "text-anchor": anchor }, clock(time, form)));
  }
  const middle = (i) => x(past[i].time + past[i].seconds / 2);
  const show = (entries) => place.replaceChildren(legend(picture, past, entries, middle, form), picture);
  const edges = { left: (i) => x(past[i].time), right: (i) => x(past[i].time + past[i].seconds) };
  return { y, middle, show, ...edges, add: (part) => picture.append(part) };
}

function legend(picture, past, entries, middle, form) {
  const numbers = entries.map(() => make("b"));
  const when = make("span", { class: "when" });
  const pointer = draw("line", { class: "pointer", y1: EDGE.top, y2: HEIGHT - EDGE.bottom, visibility: "hidden" });
  picture.append(pointer);
  const tell = (i) => {
    entries.forEach((entry, n) => { numbers[n].textContent = entry.at(i); });
    when.textContent = clock(past[i].time, form);
  };
  tell(past.length - 1);
  picture.addEventListener("pointermove", (event) => {
    const at = event.offsetX * (picture.viewBox.baseVal.width / picture.clientWidth);
    const distances = past.map((_, i) => Math.abs(middle(i) - at));
    const nearest = distances.indexOf(Math.min(...distances));
    tell(nearest);
    pointer.setAttribute("x1", middle(nearest));
    pointer.setAttribute("x2", middle(nearest));
    pointer.setAttribute("visibility", "visible");
  });
  picture.addEventListener("pointerleave", () => {
    tell(past.length - 1);
    pointer.setAttribute("visibility", "hidden");
  });
  const keys = entries.map((entry, n) => make("li", { class: entry.colour }, make("span", {}, entry.label), numbers[n]));
  return make("div", { class: "legend" }, make("ul", {}, keys), when);
}

// The ends of an axis and the round numbers between them.
function scale(low, high) {
  const span = Math.max(high - low, 1e-9 * Math.abs(high)) || 1;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => span / size <= 4.5);
  const bottom = Math.floor(low / step + 1e-9) * step;
  const top = Math.max(Math.ceil(high / step - 1e-9) * step, bottom + step);
  const ticks = Array.from({ length: Math.round((top - bottom) / step) + 1 }, (_, i) => bottom + i * step);
  return [bottom, top, ticks];
}
