import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { builtIns } from "../../../plugins/registry.ts";
import { defaultConfig } from "../default-config.ts";
import { configPage, configSections } from "./config-page.ts";

const page = readFileSync(join(import.meta.dirname ?? ".", "../../../docs/config.md"), "utf8");
const effective = await defaultConfig();
const sections = new Map(configSections(effective, builtIns).map(({ title, keys }) => [title.slice(3), keys]));
const keyOf = (section: string, key: string) => sections.get(section)?.find((each) => each.key === key);

describe("docs/config.md", () => {
  it("is what npm run config-page writes", () => assert.equal(page, configPage(effective, builtIns)));

  it("has each value that runs by default as that key's default", () => {
    const missing = Object.entries(effective.origins).flatMap(([path, origin]) => {
      const [, section = "", rest = ""] = path.split(/^(spec\.\w+)\.?/);
      if (origin !== "default" || /^spec\.(plugins|profiles)$/.test(section)) return [];
      const key = rest === "" ? section.slice(5) : rest;
      const value = path.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], effective.router);
      const usual = keyOf(section, key)?.default;
      return usual === String(value) || (Array.isArray(value) && usual === "[]") ? [] : [`${path}: ${usual}, not ${value}`];
    });
    assert.deepEqual(missing, []);
  });

  it("says what each key means", () => {
    const bare = [...sections].flatMap(([section, keys]) => {
      return keys.filter(({ meaning }) => meaning === "").map(({ key }) => `${section} ${key}`);
    });
    // Kubernetes' own.
    const known = /metadata\.namespace|poolRef\.kind$/;
    assert.deepEqual(
      bare.filter((key) => !known.test(key)),
      [],
    );
  });

  it("gives units and bounds", () => {
    assert.equal(keyOf("spec.limits", "headBytes")?.value, "integer, from 1024 to 1048576 bytes, or a size such as 32MiB");
    assert.equal(keyOf("spec.retries", "backoffMs")?.value, "integer, from 0 to 60000 ms, or a time such as 10s");
    assert.equal(
      keyOf("spec.pool", "probes.startup.periodSeconds")?.value,
      "number, from 0.001 to 2147483 s, or a time such as 10s",
    );
    assert.equal(keyOf("spec.guards", "guards[].confidence")?.value, "number, from 0.5 to below 1 or percent");
    assert.equal(keyOf("spec.listen", "cors.origins")?.default, "required");
  });
});
