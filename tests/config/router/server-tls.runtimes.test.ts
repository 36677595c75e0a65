import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { loadTexts } from "../../../config/load.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import { TlsFiles } from "../../../config/router/tls-files.ts";
import { changesBetween, fixedChanges } from "../../../config/show/changes.ts";
import { effectiveConfig } from "../../../config/show/effective.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { certificateFolder, makeAuthority } from "../../support/certificates.ts";
import { POOL, registry, router } from "../support.ts";

const folder = certificateFolder();
after(() => folder.remove());
const madeAtMs = Date.now();
const authority = makeAuthority("authority.test");
const made = authority.issue({ names: ["Router.test", "*.router.test", "127.0.0.1"] });
folder.write("good", made);
folder.write("other", authority.issue({ names: ["other.test"] }));
writeFileSync(folder.at("ca.crt"), authority.cert);
writeFileSync(folder.at("text"), "nonsense\n");
writeFileSync(folder.at("broken"), made.cert.replace(/^[A-Za-z0-9+/]{64}$/m, "A".repeat(64)));
writeFileSync(folder.at("long"), " ".repeat(1024 * 1024 + 1));
const locked = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "hunter2" },
});
writeFileSync(folder.at("locked"), locked.privateKey);

const load = (section: string, tls: string) =>
  loadTexts([{ file: folder.at("a.yaml"), text: router(`  ${section}: { tls: ${tls} }\n${POOL}`) }], registry);

describe("listen.tls and admin.tls", () => {
  const written =
    "{ certFile: good.crt, keyFile: ./good.key, clientCaFile: ca.crt, sni: [{ certFile: other.crt, keyFile: other.key, names: [A.test] }] }";

  for (const section of ["listen", "admin"] as const)
    it(`are read with their files, which are watched, and no key is shown: ${section}`, async () => {
      const loaded = await load(section, written);
      assert.ok(loaded.problems === undefined, JSON.stringify(loaded.problems));
      const tls = loaded.config[section]?.tls;
      assert.deepEqual(
        tls?.pairs.map(({ names }) => names),
        [["router.test", "*.router.test"], ["a.test"]],
      );
      assert.equal(tls?.minVersion, "TLSv1.2");
      assert.ok(Math.abs((tls?.pairs[0]?.expiresAtMs ?? 0) - madeAtMs - 86_400_000) < 60_000);
      const files = ["good.crt", "good.key", "other.crt", "other.key", "ca.crt"].map(folder.at);
      assert.deepEqual([...loaded.files].sort(), files.sort());
      const shown = JSON.stringify([loaded.config, effectiveConfig(loaded, {})]);
      assert.doesNotMatch(shown, /PRIVATE KEY/);
      const { spec } = effectiveConfig(loaded, {}).router;
      const shownTls = (spec[section] as { tls: Record<string, unknown> }).tls;
      assert.deepEqual([shownTls["certFile"], shownTls["clientCaFile"]], [folder.at("good.crt"), folder.at("ca.crt")]);
    });

  const refusals: readonly (readonly [tls: string, problem: RegExp])[] = [
    [
      "{ certFile: none.crt, keyFile: good.key }",
      /^\S+a\.yaml:4:30 {2}spec\.listen\.tls\.certFile {2}found no file ".*none\.crt"/,
    ],
    ["{ certFile: good.crt, keyFile: none.key }", /:4:49 {2}spec\.listen\.tls\.keyFile {2}found no file/],
    [
      "{ certFile: ., keyFile: good.key }",
      /certFile {2}found the file ".*", which can't be read: it is a folder, not a regular file/,
    ],
    [
      "{ certFile: text, keyFile: good.key }",
      /certFile {2}found the file .*, which holds no certificate.*-----BEGIN CERTIFICATE/,
    ],
    ["{ certFile: broken, keyFile: good.key }", /certFile {2}found the file .*, which holds no certificate that can be read/],
    ["{ certFile: long, keyFile: good.key }", /certFile {2}found the file .*, which is longer than 1 MiB/],
    ["{ certFile: good.key, keyFile: good.crt }", /certFile {2}found the file .*good\.key", which holds no certificate/],
    ["{ certFile: good.crt, keyFile: text }", /keyFile {2}found the file .*, which holds no private key/],
    [
      "{ certFile: good.crt, keyFile: other.key }",
      /keyFile {2}found the file .*, whose key does not belong to the certificate in/,
    ],
    [
      "{ certFile: good.crt, keyFile: locked }",
      /keyFile {2}found the file .*, whose key has a passphrase; wanted .*openssl pkey/,
    ],
    [
      "{ certFile: good.crt, keyFile: good.key, clientCaFile: text }",
      /clientCaFile {2}found the file .*, which holds no certificate/,
    ],
    [
      "{ certFile: good.crt, keyFile: good.key, minVersion: TLSv1.1 }",
      /minVersion {2}found "TLSv1\.1"; wanted "TLSv1\.2" or "TLSv1\.3"/,
    ],
    ["{ certFile: good.crt }", /spec\.listen\.tls.*keyFile/],
    [
      "{ certFile: good.crt, keyFile: good.key, sni: [{ certFile: other.crt, keyFile: good.key }] }",
      /spec\.listen\.tls\.sni\[0\]\.keyFile {2}found the file/,
    ],
    [
      "{ certFile: good.crt, keyFile: good.key, sni: [{ certFile: other.crt, keyFile: other.key, names: [https://a.test] }] }",
      /names\[0\] {2}found "https:\/\/a.test"; wanted a host name/,
    ],
  ];
  for (const [tls, problem] of refusals)
    it(`refuses ${tls}`, async () => {
      const { problems = [] } = await load("listen", tls);
      assert.equal(problems.length, 1, JSON.stringify(problems));
      assert.match(formatProblem(problems[0]!), problem);
    });

  it("names a file that may not be read", async (context) => {
    folder.write("secret", made);
    chmodSync(folder.at("secret.key"), 0);
    if (process.getuid?.() === 0) return context.skip("root may read every file");
    const { problems = [] } = await load("listen", "{ certFile: secret.crt, keyFile: secret.key }");
    assert.match(
      formatProblem(problems[0]!),
      /keyFile {2}found the file .*, which can't be read \(EACCES\)\. Check its permissions/,
    );
  });

  it("can't be turned on or off while the router runs", async () => {
    const plain = await loadTexts([{ file: folder.at("a.yaml"), text: router(POOL) }], registry);
    const tls = await load("listen", written);
    assert.ok(plain.problems === undefined && tls.problems === undefined);
    const [problem] = fixedChanges(plain, tls);
    assert.match(formatProblem(problem!), /spec\.listen\.tls {2}found "TLS"; wanted "plain HTTP"\. It can't change while/);
    assert.deepEqual(fixedChanges(tls, tls), []);
  });
});

describe("tls of a source", () => {
  const POOL_OF_ONE = "  pool: { endpoints: [{ url: https://a }] }\n";
  const loadSource = (source: string, tlsFiles = new TlsFiles()) => {
    const text = router(`${POOL_OF_ONE}  plugins: [ ${source} ]\n`);
    return loadTexts([{ file: folder.at("a.yaml"), text }], builtIns, [], undefined, true, [], tlsFiles);
  };
  const whole = "{ caFile: ca.crt, serverName: replica.test, certFile: good.crt, keyFile: good.key }";

  for (const [type, more] of [
    ["metrics", "port: 8443"],
    ["dcgm", "scheme: https"],
  ] as const)
    it(`${type} is read with its files, which are watched; a broken one changes nothing`, async () => {
      const tlsFiles = new TlsFiles();
      const source = `{ type: ${type}, name: numbers, parameters: { ${more}, tls: ${whole} } }`;
      const loaded = await loadSource(source, tlsFiles);
      assert.ok(loaded.problems === undefined, JSON.stringify(loaded.problems));
      const { replicaTls } = loaded.config.settings;
      const read = replicaTls?.ofPlugin.get("numbers");
      assert.deepEqual(
        [read?.serverName, read?.authorities?.pem, read?.pair?.cert, read?.isInsecure],
        ["replica.test", authority.cert, made.cert, false],
      );
      assert.deepEqual([replicaTls?.ofPool, replicaTls?.ofEndpoint.size], [undefined, 0]);
      assert.deepEqual([...loaded.files].sort(), ["ca.crt", "good.crt", "good.key"].map(folder.at).sort());
      assert.doesNotMatch(JSON.stringify([loaded.config, effectiveConfig(loaded, {})]), /PRIVATE KEY/);
      const plain = await loadSource(`{ type: ${type}, name: numbers, parameters: { ${more} } }`);
      assert.ok(plain.problems === undefined);
      assert.deepEqual(
        changesBetween(plain, loaded).filter((line) => line.includes("tls")),
        [`plugins' tls certificate ${folder.at("good.crt")} added`, "plugins' tls changed"],
      );
      writeFileSync(folder.at("ca.crt"), "nothing");
      const again = await loadSource(source, tlsFiles);
      writeFileSync(folder.at("ca.crt"), authority.cert);
      const kept = again.config?.settings.replicaTls?.ofPlugin.get("numbers")?.authorities;
      assert.equal(kept?.pem, authority.cert);
      assert.match(kept?.fault ?? "", /holds no certificate/);
    });

  const refusals: readonly (readonly [source: string, problem: RegExp])[] = [
    ["{ type: metrics, parameters: { port: 1, tls: { caFile: none } } }", /parameters\.tls\.caFile {2}found no file/],
    [
      "{ type: metrics, parameters: { port: 1, tls: { caFil: ca.crt } } }",
      /caFil {2}found the unknown key.*Did you mean "caFile"/,
    ],
    [
      "{ type: metrics, parameters: { port: 1, tls: { certFile: good.crt } } }",
      /parameters\.tls {2}.*certFile and keyFile together/,
    ],
    ["{ type: metrics, parameters: { port: 1, scheme: http, tls: {} } }", /parameters\.tls {2}.*wanted scheme: https beside it/],
    ["{ type: dcgm, parameters: { tls: { caFile: ca.crt } } }", /parameters\.tls {2}.*wanted scheme: https beside it/],
  ];
  for (const [source, problem] of refusals)
    it(`refuses ${source}`, async () => {
      const { problems = [] } = await loadSource(source);
      assert.equal(problems.length, 1, JSON.stringify(problems));
      assert.match(formatProblem(problems[0]!), problem);
    });
});

describe("pool.tls and an endpoint's tls", () => {
  const loadPool = (pool: string) => loadTexts([{ file: folder.at("a.yaml"), text: router(`  pool: ${pool}\n`) }], registry);
  const whole = "{ caFile: ca.crt, serverName: replica.test, certFile: good.crt, keyFile: good.key }";

  it("are read with their files, and shown without keys", async () => {
    const loaded = await loadPool(
      `{ tls: ${whole}, endpoints: [{ url: https://a, name: a }, { url: https://b, name: b, tls: { insecure: true } }] }`,
    );
    assert.ok(loaded.problems === undefined, JSON.stringify(loaded.problems));
    const { replicaTls } = loaded.config.settings;
    assert.deepEqual(
      [replicaTls?.ofPool?.serverName, replicaTls?.ofPool?.authorities?.pem, replicaTls?.ofPool?.pair?.cert],
      ["replica.test", authority.cert, made.cert],
    );
    assert.deepEqual(
      [...(replicaTls?.ofEndpoint ?? [])],
      [["b", { authorities: undefined, serverName: undefined, pair: undefined, isInsecure: true }]],
    );
    assert.deepEqual([...loaded.files].sort(), ["ca.crt", "good.crt", "good.key"].map(folder.at).sort());
    const { pool } = effectiveConfig(loaded, {}).router.spec as {
      pool: { tls: unknown; endpoints: readonly { tls: unknown }[] };
    };
    assert.deepEqual(pool.tls, {
      ...{ caFile: folder.at("ca.crt"), serverName: "replica.test" },
      ...{ certFile: folder.at("good.crt"), keyFile: folder.at("good.key"), insecure: false },
    });
    assert.deepEqual(pool.endpoints[1]?.tls, { insecure: true });
    assert.doesNotMatch(JSON.stringify([loaded.config, pool]), /PRIVATE KEY/);
  });

  it("is nothing where nothing is said", async () => {
    const loaded = await loadPool("{ endpoints: [{ url: https://a }] }");
    assert.equal(loaded.config?.settings.replicaTls, undefined);
  });

  const refusals: readonly (readonly [pool: string, problem: RegExp])[] = [
    ["{ tls: { caFile: none }, endpoints: [{ url: https://a }] }", /spec\.pool\.tls\.caFile {2}found no file/],
    [
      "{ tls: { certFile: good.crt }, endpoints: [{ url: https://a }] }",
      /spec\.pool\.tls {2}.*wanted certFile and keyFile together/,
    ],
    [
      "{ endpoints: [{ url: https://a, tls: { certFile: good.crt, keyFile: other.key } }] }",
      /spec\.pool\.endpoints\[0\]\.tls\.keyFile {2}found the file .* does not belong/,
    ],
  ];
  for (const [pool, problem] of refusals)
    it(`refuses ${pool}`, async () => {
      const { problems = [] } = await loadPool(pool);
      assert.equal(problems.length, 1, JSON.stringify(problems));
      assert.match(formatProblem(problems[0]!), problem);
    });
});
