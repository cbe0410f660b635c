// Colours: one palette for partitions, another one for kinds of time, each for a white and for a dark page.
// A test holds them to be apart for people who see all colours, no red, no green or no blue, and to stand out.

export const PALETTES = {
  light: {
    partitions: ["#0661a8", "#bb5408", "#0e9274", "#972f6e", "#5a4a04", "#1597fe", "#c08a07", "#222222"],
    kinds: {
      scheduling: "#aa7c0c", reading: "#13a28f", processing: "#4477aa", writing: "#676c3c", link_waiting: "#f65a74",
      unoccupied: "#e6e7ea",
    },
    ink: "#1c1e21", quiet: "#5f6570", line: "#d5d8de", lane: "#f3f4f7", paper: "#ffffff", raised: "#f3f5f8",
    accent: "#0b57d0", path: "#000000", mark: "#ffd400",
  },
  dark: {
    partitions: ["#348ef0", "#f07f2c", "#21c88a", "#c177af", "#907444", "#90d8fd", "#ffd75e", "#edf2f0"],
    kinds: {
      scheduling: "#dcab35", reading: "#37a86c", processing: "#8da3e8", writing: "#a7ea1c", link_waiting: "#ff79ad",
      unoccupied: "#33363d",
    },
    ink: "#e8eaed", quiet: "#a4a9b3", line: "#3c4048", lane: "#1f2227", paper: "#15171b", raised: "#20242a",
    accent: "#8ab4f8", path: "#ffffff", mark: "#ffd400",
  },
};

const listeners = new Set();
const dark = matchMedia("(prefers-color-scheme: dark)");
let printing = false;

/** Return whether the page is being printed. */
export function isPrinting() {
  return printing;
}

/** Return the palette that suits the page now: paper is white, whatever the screen is. */
export function palette() {
  return PALETTES[dark.matches && !printing ? "dark" : "light"];
}

/** Return the colour of a partition; names stand beside it, since colours repeat when there are many. */
export function partitionColour(index) {
  const { partitions } = palette();
  return partitions[index % partitions.length];
}

export function kindColour(kind) {
  const { kinds } = palette();
  return kinds[kind.toLowerCase()] ?? kinds.unoccupied;
}

/** Return the colour, black or white, in which text is readable on a colour such as "#0072b2". */
export function inkOn(colour) {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  const [r, g, b] = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

/** Call `listener` when the palette changes; return a function that ends it. */
export function onPalette(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function apply() {
  const now = palette(), style = document.documentElement.style;
  for (const name of ["ink", "quiet", "line", "lane", "paper", "raised", "accent", "path", "mark"]) {
    style.setProperty(`--${name}`, now[name]);
  }
  now.partitions.forEach((colour, k) => {
    style.setProperty(`--partition-${k}`, colour);
    style.setProperty(`--on-partition-${k}`, inkOn(colour));
  });
  for (const [kind, colour] of Object.entries(now.kinds)) style.setProperty(`--kind-${kind}`, colour);
  for (const listener of listeners) listener();
}

/** The value for a style that follows the palette without being drawn again. */
export function partitionVariable(index) {
  return `var(--partition-${index % PALETTES.light.partitions.length})`;
}

/** Colours repeat: return how often that of a partition was there before. Up to 3 there is a pattern of stripes for it. */
export function partitionRound(index) {
  return Math.floor(index / PALETTES.light.partitions.length);
}

/** Patterns that tell rounds of colours apart. */
export const MOST_ROUNDS = 3;

export function onPartitionVariable(index) {
  return `var(--on-partition-${index % PALETTES.light.partitions.length})`;
}

/** Begin to follow the settings of the reader; call it once. */
export function followPalette() {
  dark.addEventListener("change", apply);
  addEventListener("beforeprint", () => { printing = true; apply(); });
  addEventListener("afterprint", () => { printing = false; apply(); });
  apply();
}
