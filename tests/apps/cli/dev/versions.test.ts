import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KnownVersions } from "../../../../apps/cli/dev/versions.ts";

/** What happens to a file "a" or "b": "a1" is that its version 1 is loaded, "a3=a1" that 1 is loaded in the place of 3. */
const HISTORIES: Readonly<Record<string, { readonly happens: string; readonly goesBackTo: readonly string[] | undefined }>> = {
  "one version that has served": { happens: "a1 served", goesBackTo: undefined },
  "one that has not": { happens: "a1", goesBackTo: undefined },
  "a good one before": { happens: "a1 served a2", goesBackTo: ["a2=a1"] },
  "one that has served sometimes is not gone back to": { happens: "a1 served a2 served", goesBackTo: ["a2=a1"] },
  "only what has served is gone back to": { happens: "a1 served a2 a3", goesBackTo: ["a3=a1"] },
  "what has served last is": { happens: "a1 served a2 served a1 served a3", goesBackTo: ["a3=a1"] },
  "only files that differ stand in": { happens: "a1 b1 served b2", goesBackTo: ["b2=b1"] },
  "a file that was never good": { happens: "a1 served b1", goesBackTo: undefined },
  "a stand-in that gets stuck too": { happens: "a1 served a2 served stuck a2=a1", goesBackTo: undefined },
  "a stand-in's own predecessor": { happens: "a1 served a2 served a3 stuck a3=a2", goesBackTo: ["a3=a1"] },
  "a version that is saved after a stand-in": { happens: "a1 served a2 stuck a2=a1 served a3", goesBackTo: ["a3=a1"] },
};

describe("the versions of plugins", () => {
  for (const [name, { happens, goesBackTo }] of Object.entries(HISTORIES))
    it(name, () => {
      const versions = new KnownVersions();
      for (const event of happens.split(" ")) {
        const [saved = "", hash = saved] = event.split("=");
        if (event === "served") versions.served();
        else if (event === "stuck") {
          versions.goBack();
          versions.starting();
        } else versions.loading({ file: saved[0]!, saved, hash, texts: saved === hash ? [["plugin.ts", hash]] : [] });
      }
      const back = versions.goBack();
      assert.deepEqual(
        back?.map(({ saved, hash }) => `${saved}=${hash}`),
        goesBackTo,
      );
      for (const { hash, texts } of back ?? []) assert.deepEqual(texts, [["plugin.ts", hash]]);
    });

  it("keep no more than some", () => {
    const versions = new KnownVersions();
    for (let at = 0; at < 100; at++) {
      versions.loading({ file: "a", saved: `a${at}`, hash: `a${at}`, texts: [] });
      versions.served();
    }
    let kept = 0;
    for (let back = versions.goBack(); back !== undefined; back = versions.goBack(), kept++) {
      const [{ hash } = { hash: "" }] = back;
      versions.starting();
      versions.loading({ file: "a", saved: "a99", hash, texts: [] });
    }
    assert.equal(kept, 15);
  });
});
