import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ERRORS } from "../../core/contract/errors.ts";
import { documentText } from "../support/document-blocks.ts";

const root = join(import.meta.dirname ?? ".", "..", "..");
const page = documentText("docs/troubleshooting.md");
const [codes = "", messages = ""] = page.split("## What the program says at the start");

describe("docs/troubleshooting.md", () => {
  it("has every error of the router, with its status and whether to retry", () => {
    const rows = [...codes.matchAll(/^\| `(\w+)` +\| (\d+) +\| (yes|no) +\|/gm)].map(([, ...row]) => row);
    const errors = Object.entries(ERRORS).map(([code, [status, , isRetryable]]) => [
      code,
      `${status}`,
      isRetryable ? "yes" : "no",
    ]);
    assert.deepEqual(rows.sort(), errors.sort());
  });

  it("quotes messages that the program has", () => {
    const sources = ["core", "config", "plugins", "apps"].flatMap(sourcesBelow).join("\n");
    // In the source, names and addresses are filled in, and "found" stands in front of each finding.
    const pieces = (message: string) =>
      message
        .replace(/^(found|models:) /, "")
        .split(/NAME|http:\S+|: gpu1-8000 \(refused\)/)
        .map((piece) => piece.trim());
    const quoted = [...messages.matchAll(/^\| ((?:`[^`]+`(?:, )?)+)/gm)].flatMap(([, cell = ""]) => [
      ...cell.matchAll(/`([^`]+)`/g),
    ]);
    assert.ok(quoted.length > 20);
    const unknown = quoted.flatMap(([, text = ""]) => pieces(text)).filter((piece) => !sources.includes(piece));
    assert.deepEqual(unknown, []);
  });
});

function sourcesBelow(folder: string): readonly string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".ts")).map((name) => readFileSync(join(root, folder, name), "utf8"));
}
