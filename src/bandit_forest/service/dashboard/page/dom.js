// Makes elements and writes numbers. Texts are only ever set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

export const byId = (id) => document.getElementById(id);

export const COLOURS = 7;
export const OTHERS = "others";
// The same colour for an action everywhere, also in the drawing of a tree.
export const colourOf = (place) => `colour-${place === OTHERS ? OTHERS : place % COLOURS}`;

const whole = new Intl.NumberFormat("en");
const rough = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const count = (number) => whole.format(number);
export const short = (number) => (number < 1_000_000 ? whole.format(number) : rough.format(number));
export const plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;
export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
export const bytes = (number) =>
  number < 1e6 ? `${Math.ceil(number / 1e3)} kB` : number < 1e9 ? `${(number / 1e6).toFixed(0)} MB` : `${(number / 1e9).toFixed(1)} GB`;

// Three digits after the point, fewer for large numbers.
export function amount(number) {
  if (number === null || number === undefined) return "–";
  const size = Math.abs(number);
  return number.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3).replace("-", "−");
}

export const probability = (number) => (number > 0 && number < 0.0005 ? "< 0.001" : number.toFixed(3));

export function clock(seconds, { exact = false, day = false } = {}) {
  const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  if (exact) time.second = "2-digit";
  const form = day ? { day: "numeric", month: "short", ...time } : time;
  return new Intl.DateTimeFormat("en", form).format(new Date(1000 * seconds));
}
