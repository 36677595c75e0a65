import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ownTypes } from "../../../config/plugins/instances.ts";
import { describePlugins } from "../../../config/show/plugin-reference.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { pluginsPage } from "../../support/documents/plugins-page.ts";

describe("docs/plugins.md", () => {
  const page = readFileSync(join(import.meta.dirname ?? ".", "../../../docs/plugins.md"), "utf8");

  it("is what npm run plugins-page writes", () => assert.equal(page, pluginsPage(builtIns)));

  it("has every type once", () => {
    const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, type]) => type);
    assert.deepEqual(
      headings.sort(),
      ownTypes(builtIns)
        .map(({ type }) => type)
        .sort(),
    );
  });
});

describe("describePlugins", () => {
  const described = new Map(describePlugins(builtIns).map((each) => [each.type, each]));
  const optionOf = (type: string, name: string) => described.get(type)?.options.find((each) => each.name === name);

  it("says what an option may be, its default, and whether it is required", () => {
    const { meaning: _, ...ratio } = optionOf("otel-traces", "ratio") ?? { meaning: "" };
    assert.deepEqual(ratio, { name: "ratio", value: "number, from 0 to 1", default: "0.1", isRequired: false });
    assert.equal(optionOf("by-label", "label")?.isRequired, true);
  });

  it("puts alternatives of a schema together: required is what all of them require", () => {
    assert.equal(optionOf("dns", "record")?.value, '"A" | "AAAA" | "SRV"');
    assert.equal(optionOf("dns", "host")?.isRequired, true);
    assert.equal(optionOf("dns", "port")?.isRequired, false);
  });

  it("names the reference router's names, and what is configured elsewhere", () => {
    assert.deepEqual(described.get("prefix-cache")?.otherNames, ["prefix-cache-scorer"]);
    assert.match(described.get("static")?.configuredBy ?? "", /spec\.pool\.endpoints/);
  });
});
