import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { defaultFiles } from "../../../../apps/cli/frame/default-file.ts";
import { UsageError } from "../../../../config/command.ts";

const place = mkdtempSync(join(tmpdir(), "signalbox-default-"));
after(() => rmSync(place, { recursive: true }));

const OURS = "# mine\napiVersion: signalbox/v1\nkind: Router\n";
const THEIRS = "apiVersion: apps/v1\nkind: Deployment\n# like signalbox/v1\n";

describe("the config of a folder", () => {
  const FOUND = [
    { files: {}, is: [] },
    { files: { "signalbox.yaml": OURS, "other.yaml": OURS }, is: ["signalbox.yaml"] },
    { files: { "signalbox.yml": OURS }, is: ["signalbox.yml"] },
    { files: { "signalbox.yml": "" }, is: ["signalbox.yml"] },
    { files: { "compose.yaml": THEIRS, "package.json": "{}", "notes.md": OURS, ".hidden.yaml": OURS }, is: [] },
    { files: { "binary.yaml": "\0\u{fffd}" }, is: [] },
  ];
  const UNSURE = [
    { files: { "signalbox.yaml": OURS, "signalbox.yml": OURS }, says: /^Both signalbox\.yaml and signalbox\.yml .* with -f/ },
    { files: { "b.yaml": THEIRS, "router.yml": OURS }, says: /but router\.yml is a config: name it with -f router\.yml\.$/ },
    { files: { "router.json": '{ "apiVersion": "signalbox/v1" }' }, says: /router\.json/ },
    { files: { "all.yaml": `${THEIRS}---\n  kind: "EndpointPickerConfig"\n` }, says: /all\.yaml/ },
  ];
  const made = (files: Readonly<Record<string, string | undefined>>) => {
    const folder = mkdtempSync(join(place, "x"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text ?? "");
    return folder;
  };
  for (const { files, is } of FOUND)
    it(`with ${Object.keys(files).join(", ") || "nothing"} is ${is[0] ?? "none"}`, async () => {
      const folder = made(files);
      assert.deepEqual(
        await defaultFiles("-f", folder),
        is.map((name) => join(folder, name)),
      );
    });
  for (const { files, says } of UNSURE)
    it(`with ${Object.keys(files).join(", ")} has to be named`, async () => {
      await assert.rejects(defaultFiles("-f", made(files)), (thrown) => {
        assert.ok(thrown instanceof UsageError);
        assert.match(thrown.message, says);
        return true;
      });
    });
});
