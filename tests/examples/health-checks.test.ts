import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { examplePath } from "./example-files.ts";

/** How long a router may not run, on a busy machine, without being taken for dead. */
const PAUSE_S = 1;

interface Check {
  readonly where: string;
  readonly timeoutS: number;
  readonly failures: number;
}

/** What the pattern finds in the shipped files; charts are no YAML before they are filled in, so each check is read from its own lines. */
function found(pattern: RegExp): readonly { readonly where: string; readonly text: string; readonly name: string }[] {
  return readdirSync(examplePath("."), { recursive: true, encoding: "utf8" })
    .filter((file) => /(\.yaml|Dockerfile)$/.test(file) && !/crd|node_modules/.test(file))
    .flatMap((file) =>
      [...readFileSync(examplePath(file), "utf8").matchAll(pattern)].map(([text, name = ""]) => ({
        where: `${file} ${name}`,
        text,
        name,
      })),
    );
}

const secondsOf = (text: string, pattern: RegExp, otherwise: number) => Number(pattern.exec(text)?.[1] ?? otherwise);

/** Of Kubernetes, with its defaults. */
const probes: readonly Check[] = found(/^ +(\w+Probe): (\{.*\})$/gm).map(({ where, text, name }) => {
  const { timeoutSeconds: timeoutS = 1, failureThreshold: failures = 3 } = parse(text)[name];
  return { where, timeoutS, failures };
});
const ofEnvoy: readonly Check[] = found(/health_checks:[\s\S]*?grpc_health_check/g).map(({ where, text }) => ({
  where,
  timeoutS: secondsOf(text, /timeout: ([\d.]+)s/, 0),
  failures: secondsOf(text, /unhealthy_threshold: (\d+)/, 0),
}));
const ofContainers: readonly Check[] = [
  ...found(/^HEALTHCHECK (.*) CMD/gm).map(({ where, text }) => ({
    where,
    timeoutS: secondsOf(text, /--timeout=(\d+)s/, 30),
    failures: secondsOf(text, /--retries=(\d+)/, 3),
  })),
  ...found(/^ +healthcheck:\n[\s\S]*?(?=^ {4}\w|^ {2}\w)/gm).map(({ where, text }) => ({
    where,
    timeoutS: secondsOf(text, / timeout: (\d+)s/, 30),
    failures: secondsOf(text, / retries: (\d+)/, 3),
  })),
];

describe("health checks of the shipped files", () => {
  it("are found", () => {
    assert.deepEqual([probes.length > 10, ofEnvoy.length, ofContainers.length], [true, 1, 2]);
  });

  for (const { where, timeoutS, failures } of [...probes, ...ofEnvoy, ...ofContainers])
    it(`${where}: a pause of ${PAUSE_S} s is no failure, and one failure alone says nothing`, () => {
      assert.ok(timeoutS > PAUSE_S, `${timeoutS} s`);
      assert.ok(failures >= 2, `${failures}`);
    });
});
