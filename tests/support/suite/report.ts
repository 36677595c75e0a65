/** What the runners of the three runtimes say of a run, and what files.ts writes. */

export const passedTests = (output: string) => countOf(output, [/^ℹ pass (\d+)$/m, /\| (\d+) passed/, /^\s*(\d+) pass$/m]);
export const failedTests = (output: string) => countOf(output, [/^ℹ fail (\d+)$/m, /\| (\d+) failed/, /^\s*(\d+) fail$/m]);

function countOf(output: string, patterns: readonly RegExp[]): number {
  const plain = output.replace(/\u001b\[[0-9;]*m/g, "");
  for (const pattern of patterns) {
    const found = pattern.exec(plain);
    if (found) return Number(found[1]);
  }
  return 0;
}

/** Seconds that each file's tests took. */
export function fileSeconds(times: string): Map<string, number> {
  const lines = times.split("\n").filter(Boolean);
  return new Map(lines.map((line) => [line.slice(line.indexOf(" ") + 1), Number.parseFloat(line)]));
}
