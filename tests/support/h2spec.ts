import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The conformance test of HTTP/2 servers that SIGNALBOX_H2SPEC names. Where it is absent, tests say so. */
const H2SPEC = process.env["SIGNALBOX_H2SPEC"] ?? "h2spec";
export const NO_H2SPEC =
  spawnSync(H2SPEC, ["--version"]).status === 0 ? "" : "no h2spec is installed: HTTP/2 was NOT tested with it";
if (NO_H2SPEC !== "") console.error(`SKIPPED: ${NO_H2SPEC}`);

/** For an answer that should come, on a machine that does much else. */
const ANSWER_S = 3;
const LIFE_MS = 170_000;

export interface H2specReport {
  readonly passed: number;
  /** Names of those that failed, "http2/6.1: what it sends". */
  readonly failed: readonly string[];
}

/** Runs all of its cases against a server's path; each is told what the server does that it should not. */
export async function h2spec(port: number, path: string): Promise<H2specReport> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-h2spec-"));
  const file = join(folder, "report.xml");
  const args = ["-h", "127.0.0.1", "-p", String(port), "-P", path, "-o", String(ANSWER_S), "-j", file];
  try {
    await new Promise((resolve, reject) => {
      const child = spawn(H2SPEC, args, { stdio: "ignore", timeout: LIFE_MS });
      child.once("error", reject);
      child.once("close", resolve);
    });
    return reportIn(readFileSync(file, "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function reportIn(xml: string): H2specReport {
  const failed: string[] = [];
  let passed = 0;
  for (const [, place, name, rest] of xml.matchAll(/<testcase package="([^"]*)" classname="([^"]*)"[^>]*>(.*?)<\/testcase>/gs)) {
    if (/<(error|failure|skipped)/.test(rest ?? "")) failed.push(`${place}: ${name}`);
    else passed += 1;
  }
  return { passed, failed };
}
