import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { configText } from "../../../apps/admin/config-text.ts";
import type { RunningConfig } from "../../../config/running/running-config.ts";
import { makeShownConfig, makeShownRouter, makeSite } from "../../support/view.ts";

const reload = { generation: 2, atMs: 0, cause: "signal", isApplied: true, changes: [], problems: [] } as const;
const AT = "Last change at 1970-01-01T00:00:00.000Z by signal";

describe("the config in lines, behind its generation and its profile", () => {
  const cases: readonly [name: string, changes: Partial<RunningConfig>, lines: readonly string[]][] = [
    ["not changed", {}, ["It has not been changed since the start."]],
    ["read again", { lastReload: reload }, [`${AT}: nothing was different.`]],
    ["changed", { lastReload: { ...reload, changes: ["spec.limits: more"] } }, [`${AT}:`, "spec.limits: more"]],
    [
      "refused",
      { lastReload: { ...reload, isApplied: false, problems: ["signalbox.yaml:1:1  wrong"] } },
      [`${AT}: refused, so the config before runs on.`, "Problem: signalbox.yaml:1:1  wrong"],
    ],
    [
      "changed beside the files",
      {
        overlay: {
          rewrites: [{ name: "food", namespace: undefined, document: undefined, by: "ann", sinceMs: 0, untilMs: 1000 }],
        } as unknown as RunningConfig["overlay"],
      },
      [
        "It has not been changed since the start.",
        "Beside the files: rewrite food deleted by ann at 1970-01-01T00:00:00.000Z, until 1970-01-01T00:00:01.000Z",
      ],
    ],
  ];
  for (const [name, changes, lines] of cases)
    it(name, () =>
      assert.deepEqual(configText(makeSite(makeShownRouter(), { running: makeShownConfig(changes) })).slice(2), lines),
    );
});
