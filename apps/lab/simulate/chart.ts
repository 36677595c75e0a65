import { printable } from "../../../core/contract/printable.ts";
import type { Run } from "./run.ts";

const WIDTH = 820;
const HEAD = 52;
const PLOT_LEFT = 68;
const PLOT_RIGHT = 796;
const PLOT_BOTTOM = 372;
/** Below the plot: numbers and title of the axis, then a row for each run. */
const LEGEND_TOP = PLOT_BOTTOM + 66;
const ROW = 22;
const SWATCH = 30;
const MAX_NAME = 60;
/** Lower limit of the axis, in seconds. */
const MIN_SECONDS = 0.001;
const MOST_NUMBERS = 9;
const SHARES = [0, 0.25, 0.5, 0.75, 1];

/** On white and on nearly black, in the order of the runs. Further runs have the same ones with other dashes. */
const COLORS: readonly (readonly [light: string, dark: string])[] = [
  ["#1f6fd6", "#6cb0ff"],
  ["#c2410c", "#ff9466"],
  ["#16803c", "#5fd38a"],
  ["#8b3fc7", "#c99bff"],
  ["#0e7c86", "#4fd0dc"],
  ["#b0186b", "#ff86c0"],
  ["#7a5c00", "#e0bd4a"],
  ["#4b5563", "#b6bec9"],
];
const DASHES = ["", ' stroke-dasharray="7 4"', ' stroke-dasharray="2 3"', ' stroke-dasharray="9 3 2 3"'];

/** Draws as SVG, with a curve for each run, which share of its requests has had its first token after how many seconds. */
export function chart(runs: readonly Run[]): string {
  const seconds = runs.flatMap(({ ttftCurve }) => (ttftCurve.length === 0 ? [] : [ttftCurve[0]!, ttftCurve.at(-1)!]));
  const axis = axisOver(
    Math.min(...seconds, seconds.length === 0 ? 1 : Number.POSITIVE_INFINITY),
    Math.max(...seconds, MIN_SECONDS),
  );
  const height = LEGEND_TOP + ROW * runs.length;
  const what = runs.some(({ sessionsPerHour }) => sessionsPerHour !== undefined) ? "turns" : "requests";
  const middle = (PLOT_LEFT + PLOT_RIGHT) / 2;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="system-ui, sans-serif" font-size="13">`,
    "<title>Time to first token by config</title>",
    `<style>${style()}</style>`,
    '<rect class="paper" width="100%" height="100%"/>',
    '<text x="16" y="30" font-size="16" font-weight="600">Time to first token (further left is better)</text>',
    ...SHARES.map(shareLine),
    ...axis.ticks.map((tick) => tickLine(axis, tick)),
    `<text x="${middle}" y="${PLOT_BOTTOM + 42}" text-anchor="middle">seconds to the first token, on a logarithmic scale</text>`,
    `<text transform="translate(20 ${(HEAD + PLOT_BOTTOM) / 2}) rotate(-90)" text-anchor="middle">share of ${what} that have it</text>`,
    ...runs.flatMap((run, index) => (run.ttftCurve.length === 0 ? [] : [curve(run, index, axis)])),
    ...runs.map(legend),
    "</svg>",
  ].join("\n")}\n`;
}

/** The colours of the viewer's scheme; where that is not known, of the light one. */
function style(): string {
  const scheme = (paper: string, ink: string, grid: string, faint: string, which: 0 | 1) =>
    [
      `.paper{fill:${paper}}text{fill:${ink}}.grid{stroke:${grid}}.number{fill:${faint}}`,
      ...COLORS.map((color, index) => `.run${index}{stroke:${color[which]}}`),
    ].join("");
  const light = scheme("#ffffff", "#1d2528", "#dce1df", "#555f63", 0);
  const dark = scheme("#16191c", "#e8ecee", "#343a3f", "#a9b3b8", 1);
  return `${light}@media (prefers-color-scheme:dark){${dark}}`;
}

interface Axis {
  readonly ticks: readonly number[];
  /** Those of which the number is written. */
  readonly numbers: ReadonlySet<number>;
  x(seconds: number): number;
}

/** A logarithmic axis from a tick below the lowest value to one above the highest. */
function axisOver(lowest: number, highest: number): Axis {
  const all = Array.from({ length: 8 }, (_, decade) => [1, 2, 5].map((step) => step * 10 ** (decade - 3))).flat();
  const first = all.findLastIndex((tick) => tick <= lowest);
  const last = all.findIndex((tick) => tick > highest);
  const ticks = all.slice(Math.min(Math.max(0, first), all.length - 2), last < 0 ? undefined : last + 1);
  const tens = ticks.filter((tick) => Number.isInteger(Number(Math.log10(tick).toFixed(6))));
  const [from, to] = [Math.log(ticks[0]!), Math.log(ticks.at(-1)!)];
  const shareAt = (seconds: number) => (Math.log(Math.max(seconds, MIN_SECONDS)) - from) / (to - from);
  return {
    ticks,
    numbers: new Set(ticks.length > MOST_NUMBERS ? tens : ticks),
    x: (seconds) => PLOT_LEFT + Math.min(1, Math.max(0, shareAt(seconds))) * (PLOT_RIGHT - PLOT_LEFT),
  };
}

const yOf = (share: number) => PLOT_BOTTOM - share * (PLOT_BOTTOM - HEAD);

function shareLine(share: number): string {
  const y = yOf(share);
  return `<line class="grid" x1="${PLOT_LEFT}" y1="${y}" x2="${PLOT_RIGHT}" y2="${y}"/><text class="number" x="${PLOT_LEFT - 8}" y="${y + 4}" text-anchor="end">${share * 100}%</text>`;
}

function tickLine({ x, numbers }: Axis, tick: number): string {
  const at = x(tick).toFixed(1);
  const number = `<text class="number" x="${at}" y="${PLOT_BOTTOM + 20}" text-anchor="middle">${Number(tick.toPrecision(1))}</text>`;
  return `<line class="grid" x1="${at}" y1="${HEAD}" x2="${at}" y2="${PLOT_BOTTOM}"/>${numbers.has(tick) ? number : ""}`;
}

function curve({ name, ttftCurve }: Run, index: number, { x }: Axis): string {
  const points = ttftCurve.map((seconds, at) => `${x(seconds).toFixed(1)},${yOf(at / (ttftCurve.length - 1)).toFixed(1)}`);
  return `<polyline ${look(index)} fill="none" stroke-width="2" points="${points.join(" ")}"><title>${escaped(name)}</title></polyline>`;
}

function legend({ name, hitRatio, ttftSeconds, ttftCurve }: Run, index: number): string {
  const y = LEGEND_TOP + ROW * index;
  const { p50, p99 } = ttftSeconds;
  const hits = `hits ${(hitRatio * 100).toFixed(1)}%`;
  const note = ttftCurve.length === 0 ? "no first token" : `p50 ${p50.toFixed(2)} s, p99 ${p99.toFixed(2)} s, ${hits}`;
  return [
    `<line ${look(index)} x1="${PLOT_LEFT}" y1="${y - 4}" x2="${PLOT_LEFT + SWATCH}" y2="${y - 4}" stroke-width="3"/>`,
    `<text x="${PLOT_LEFT + SWATCH + 10}" y="${y}">${escaped(name)}</text>`,
    `<text class="number" x="${PLOT_RIGHT}" y="${y}" text-anchor="end">${note}</text>`,
  ].join("");
}

const look = (index: number) => `class="run${index % COLORS.length}"${DASHES[Math.floor(index / COLORS.length) % DASHES.length]}`;

/** Escapes a name for SVG. A long one is cut at its beginning, because files usually differ at the end of their path. */
function escaped(name: string): string {
  const short = name.length > MAX_NAME ? `…${name.slice(1 - MAX_NAME)}` : name;
  return printable(short).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
