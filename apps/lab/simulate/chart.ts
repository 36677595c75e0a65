import type { Run } from "./run.ts";

const WIDTH = 820;
const NAME_WIDTH = 200;
const NOTE_WIDTH = 150;
const HEAD = 74;
const ROW = 46;
const FOOT = 44;
const PLOT_LEFT = NAME_WIDTH + 16;
const PLOT_RIGHT = WIDTH - NOTE_WIDTH;
const MAX_NAME = 30;
/** Lower limit of the axis, in seconds. */
const MIN_SECONDS = 0.001;

const MARKS = [
  { title: "p50", color: "#1f77b4", of: (run: Run) => run.ttftSeconds.p50 },
  { title: "mean", color: "#111111", of: (run: Run) => run.ttftSeconds.mean },
  { title: "p90", color: "#e08214", of: (run: Run) => run.ttftSeconds.p90 },
  { title: "p99", color: "#c0392b", of: (run: Run) => run.ttftSeconds.p99 },
] as const;

/** Draws the times to first token as SVG: one row for each run, seconds on a logarithmic axis. */
export function chart(runs: readonly Run[]): string {
  const values = runs.flatMap((run) => MARKS.map(({ of }) => Math.max(MIN_SECONDS, of(run))));
  const axis = axisOver(Math.min(...values), Math.max(...values));
  const height = HEAD + ROW * runs.length + FOOT;
  const bottom = HEAD + ROW * runs.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13">
<title>Time to first token by config</title>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="16" y="28" font-size="16" font-weight="600">Time to first token, seconds (less is better)</text>
${MARKS.map(legend).join("\n")}
${axis.ticks.map((tick) => gridLine(axis.x(tick), tick, bottom)).join("\n")}
${runs.map((run, index) => row(run, HEAD + ROW * (index + 0.5), axis)).join("\n")}
</svg>
`;
}

interface Axis {
  readonly ticks: readonly number[];
  x(seconds: number): number;
}

/** A logarithmic axis from a tick below the lowest value to one above the highest. */
function axisOver(lowest: number, highest: number): Axis {
  const all = Array.from({ length: 8 }, (_, decade) => [1, 2, 5].map((step) => step * 10 ** (decade - 3))).flat();
  const first = all.findLastIndex((tick) => tick <= lowest);
  const last = all.findIndex((tick) => tick > highest);
  const ticks = all.slice(Math.min(Math.max(0, first), all.length - 2), last < 0 ? undefined : last + 1);
  const [from, to] = [Math.log(ticks[0]!), Math.log(ticks.at(-1)!)];
  const shareAt = (seconds: number) => (Math.log(Math.max(seconds, MIN_SECONDS)) - from) / (to - from);
  return { ticks, x: (seconds) => PLOT_LEFT + Math.min(1, Math.max(0, shareAt(seconds))) * (PLOT_RIGHT - PLOT_LEFT) };
}

function legend({ title, color }: (typeof MARKS)[number], index: number): string {
  const x = PLOT_LEFT + 6 + 70 * index;
  return `<circle cx="${x}" cy="51" r="5" fill="${color}"/><text x="${x + 11}" y="55">${title}</text>`;
}

function gridLine(x: number, tick: number, bottom: number): string {
  const at = x.toFixed(1);
  return `<line x1="${at}" y1="${HEAD}" x2="${at}" y2="${bottom}" stroke="#dddddd"/><text x="${at}" y="${bottom + 20}" text-anchor="middle" fill="#555555">${Number(tick.toPrecision(1))}</text>`;
}

function row(run: Run, y: number, { x }: Axis): string {
  const { mean, p50, p99 } = run.ttftSeconds;
  const dots = MARKS.map(({ title, color, of }) => {
    return `<circle cx="${x(of(run)).toFixed(1)}" cy="${y}" r="5" fill="${color}"><title>${title} ${of(run).toFixed(3)} s</title></circle>`;
  });
  return [
    `<text x="${NAME_WIDTH}" y="${y + 4}" text-anchor="end">${escaped(run.name)}</text>`,
    `<line x1="${x(p50).toFixed(1)}" y1="${y}" x2="${x(p99).toFixed(1)}" y2="${y}" stroke="#bbbbbb" stroke-width="4"/>`,
    ...dots,
    `<text x="${PLOT_RIGHT + 16}" y="${y - 3}">mean ${mean.toFixed(2)} s</text>`,
    `<text x="${PLOT_RIGHT + 16}" y="${y + 14}" fill="#555555">hits ${(run.hitRatio * 100).toFixed(1)}%</text>`,
  ].join("\n");
}

/** Escapes a name for SVG. A long one is cut at its beginning, because files usually differ at the end of their path. */
function escaped(name: string): string {
  const short = name.length > MAX_NAME ? `…${name.slice(1 - MAX_NAME)}` : name;
  return short.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
