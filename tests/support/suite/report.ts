/** What the runners of the three runtimes say of a run, in their output and their JUnit reports. */

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

/** Bun names a suite by its file; Deno and file-times.ts name the file in each test that is in no other. */
const TIMES = [
  /<testsuite name="(tests\/[^"]+)" file="\1"[^>]* time="([\d.e-]+)"/g,
  /<testcase [^>]*?classname="\.\/(tests\/[^"]+)" time="([\d.e-]+)"/g,
];

/** Seconds that each file's tests took. */
export function fileSeconds(report: string): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const pattern of TIMES) {
    for (const [, file = "", time] of report.matchAll(pattern)) seconds.set(file, (seconds.get(file) ?? 0) + Number(time));
  }
  return seconds;
}
