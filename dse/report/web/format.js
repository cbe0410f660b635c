// Quantities as people read them, in the same words as the tables that the command line prints.

const PS = [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"]];

function significant(value) {
  const size = Math.abs(value);
  return value.toFixed(size < 10 ? 3 : size < 100 ? 2 : 1);
}

/** Return a time in ticks of a unit ("ps" or "cycles") as text. */
export function timeText(ticks, unit) {
  if (unit !== "ps") return `${countText(Math.round(ticks))} ${unit}`;
  for (const [size, name] of PS) {
    if (Math.abs(ticks) >= size) return `${significant(ticks / size)} ${name}`;
  }
  return `${Math.round(ticks)} ps`;
}

/** Return a time with as many digits as a span of the axis needs to tell its marks apart. */
export function axisText(ticks, step, unit) {
  const [size, name] = unit === "ps" ? PS.find(([of]) => Math.max(ticks, step) >= of) ?? [1, "ps"] : [1, unit];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${(ticks / size).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${name}`;
}

const COUNTS = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function countText(count) {
  return COUNTS.format(Number(count));
}

/** Return a share of a whole in per cent, nothing for none. */
export function shareText(part, whole) {
  return part && whole ? `${((100 * part) / whole).toFixed(1)} %` : "";
}

/** Return by how much a value differs from one before, with its sign; nothing where it is the same. */
export function changeText(now, before) {
  if (!before || now === before) return now === before ? "the same" : "";
  const change = (100 * (now - before)) / before;
  return `${change > 0 ? "+" : "\u2212"}${Math.abs(change).toFixed(Math.abs(change) < 10 ? 1 : 0)} %`;
}

/** Return the name of a kind of time as words. */
export function words(name) {
  return name.toLowerCase().replaceAll("_", " ");
}
