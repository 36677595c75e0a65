import type { Clock } from "../../../core/contract/clock.ts";
import { percent } from "../../../core/report/number-text.ts";
import { cut } from "../../../core/report/text-width.ts";
import type { Progress } from "../../lab/simulate/run.ts";

const BAR_CELLS = 30;
/** Where lines can't be drawn over, one comes after so long at the earliest, and so does each further one. */
const BETWEEN_LINES_MS = 10_000;

interface ShownProgress {
  readonly show: Progress;
  readonly clear: () => void;
}

/** A bar that is drawn over again and again. */
export function progressBar(write: (text: string) => void, columns: number): ShownProgress {
  let shown = "";
  return {
    show(name, share) {
      const done = Math.round(share * BAR_CELLS);
      const line = `[${"#".repeat(done)}${".".repeat(BAR_CELLS - done)}] ${Math.round(share * 100)}%  ${name}`;
      if (line === shown) return;
      shown = line;
      write(`\r\x1b[K${cut(line, columns - 1)}`);
    },
    clear: () => write("\r\x1b[K"),
  };
}

/** A line now and then, for an output that is no terminal. */
export function progressLines(write: (text: string) => void, clock: Clock): ShownProgress {
  let lastMs = clock.now();
  return {
    show(name, share) {
      const nowMs = clock.now();
      if (nowMs - lastMs < BETWEEN_LINES_MS) return;
      lastMs = nowMs;
      write(`${name}: ${percent(Math.round(share * 100) / 100)}\n`);
    },
    clear: () => {},
  };
}
