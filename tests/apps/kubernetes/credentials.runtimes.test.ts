import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { findCredentials } from "../../../apps/kubernetes/credentials.ts";
import type { Identity } from "../../../apps/kubernetes/identity.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const TIMEOUT = { timeout: 20_000 };
const PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const KEY = "-----BEGIN PRIVATE KEY-----\nBBBB\n-----END PRIVATE KEY-----\n";
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A folder of its own, and credentials found in it. */
function setUp() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-kubeconfig-"));
  after(() => rmSync(folder, { recursive: true }));
  const clock = new FakeClock();
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const find = (choice: { kubeconfig?: string; context?: string }, environment: Record<string, string> = {}) =>
    findCredentials(choice, {
      clock,
      environment: { HOME: folder, PATH: process.env["PATH"] ?? "", ...environment },
      accountFolder: join(folder, "account"),
    });
  return { folder, clock, write, find };
}

function shown({ ca, token, certificate }: Identity) {
  return { ca, token: token?.reveal(), chain: certificate?.chain, key: certificate?.key.reveal() };
}

/** A kubeconfig with one context, as JSON, which is YAML too. */
function kubeconfig(user: object, cluster: object = { server: "https://api.example:6443" }): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "main",
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
    contexts: [{ name: "main", context: { cluster: "c", user: "u", namespace: "llm" } }],
  });
}

describe("credentials from a kubeconfig", () => {
  it("are those of the current context, with certificates inline", TIMEOUT, async () => {
    const { write, find } = setUp();
    const user = { "client-certificate-data": base64(PEM), "client-key-data": base64(KEY), token: "t0ken" };
    const cluster = { server: "https://api.example:6443/", "certificate-authority-data": base64(PEM), "tls-server-name": "kube" };
    const found = find({ kubeconfig: write("config", kubeconfig(user, cluster)) });
    assert.deepEqual(shown(await found.identity()), { ca: PEM, token: "t0ken", chain: PEM, key: KEY });
    const { server, serverName, isVerified, namespace, from } = found;
    assert.deepEqual([server.href, serverName, isVerified, namespace], ["https://api.example:6443/", "kube", true, "llm"]);
    assert.match(from, /^the context "main" of the kubeconfig .*config$/);
    assert.doesNotMatch(JSON.stringify(await found.identity()), /t0ken|BBBB/);
  });

  it("are read from files beside it, again after a minute and after a refusal", TIMEOUT, async () => {
    const { write, find, clock } = setUp();
    write("ca.pem", PEM);
    write("cert.pem", PEM);
    write("key.pem", KEY);
    write("token", "first\n");
    const user = { "client-certificate": "cert.pem", "client-key": "key.pem", tokenFile: "token", token: "unused" };
    const cluster = { server: "https://api", "certificate-authority": "ca.pem", "insecure-skip-tls-verify": true };
    const found = find({ kubeconfig: write("config", kubeconfig(user, cluster)) });
    assert.deepEqual(shown(await found.identity()), { ca: PEM, token: "first", chain: PEM, key: KEY });
    assert.equal(found.isVerified, false);
    write("token", "second");
    await clock.advance(59_000);
    assert.equal((await found.identity()).token?.reveal(), "first");
    await clock.advance(1000);
    assert.equal((await found.identity()).token?.reveal(), "second");
    write("token", "third");
    assert.equal(found.forget(), true);
    assert.equal((await found.identity()).token?.reveal(), "third");
  });

  it("are those of a named context, of several files the first that has it", TIMEOUT, async () => {
    const { folder, write, find } = setUp();
    const one =
      "clusters: [{ name: c, cluster: { server: 'http://one:8001' } }]\ncontexts: [{ name: a, context: { cluster: c } }]\n";
    const two =
      "current-context: b\nclusters:\n- { name: c, cluster: { server: 'http://two:8001' } }\n- { name: d, cluster: { server: 'http://three:8001' } }\n";
    const three = "contexts:\n- { name: a, context: { cluster: d } }\n- { name: b, context: { cluster: d } }\n";
    const KUBECONFIG = [write("one", one), join(folder, "missing"), write("two", two), write("three", three)].join(":");
    assert.equal(find({ context: "a" }, { KUBECONFIG }).server.host, "one:8001");
    const current = find({}, { KUBECONFIG, KUBERNETES_SERVICE_HOST: "10.0.0.1" });
    assert.equal(current.server.host, "three:8001");
    assert.equal(current.namespace, "default");
    assert.deepEqual(shown(await current.identity()), { ca: undefined, token: undefined, chain: undefined, key: undefined });
  });

  const refused: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ["is no YAML", "a: [", /kubeconfig can't be used: .*invalid YAML/],
    ["is empty", "", /is empty/],
    ["has no current context", "clusters: []", /has no current-context: set it, or context beside kubeconfig/],
    [
      "names a missing cluster",
      "current-context: a\ncontexts: [{ name: a, context: { cluster: x } }]",
      /no cluster "x"; it has none/,
    ],
    ["names a missing user", kubeconfig({}).replace('"name":"u"', '"name":"v"'), /no user "u"; it has "v"/],
    ["has a wrong type", kubeconfig({ token: 5 }), /users\[0\]\.user\.token/],
    ["has a server that is none", kubeconfig({}, { server: "api.example" }), /no address: write https:\/\/HOST:6443/],
    ["wants a proxy", kubeconfig({}, { server: "https://a", "proxy-url": "http://p" }), /proxy-url, which is not supported/],
    ["has a password", kubeconfig({ username: "a", password: "b" }), /username, which is not supported/],
    ["has half a pair", kubeconfig({ "client-key-data": base64(KEY) }), /client-key alone: give both/],
    ["has data that is no PEM", kubeconfig({}, { server: "https://a", "certificate-authority-data": "%%" }), /no PEM in base64/],
    [
      "names a missing file",
      kubeconfig({ tokenFile: "nowhere" }),
      /the token file .*nowhere can't be used: there is no such file/,
    ],
    ["has a token with a space", kubeconfig({ token: "a b" }), /holds no token: it has a space/],
  ];
  for (const [what, text, message] of refused) {
    it(`are refused when it ${what}`, TIMEOUT, () => {
      const { write, find } = setUp();
      assert.throws(() => find({ kubeconfig: write("config", text) }), message);
    });
  }

  it("are refused for another context than it has, a missing file, and a folder", TIMEOUT, () => {
    const { folder, write, find } = setUp();
    assert.throws(
      () => find({ kubeconfig: write("config", kubeconfig({})), context: "other" }),
      /no context "other"; it has "main"/,
    );
    assert.throws(() => find({ kubeconfig: join(folder, "none") }), /the kubeconfig .*none can't be used: there is no such file/);
    assert.throws(() => find({ kubeconfig: folder }), /it is a folder, not a regular file/);
  });
});

describe("credentials of a program that a kubeconfig names", () => {
  /** A program that prints the text, and counts its runs in the file `runs`. */
  function program(folder: string, script: string): void {
    writeFileSync(join(folder, "login.sh"), `#!/bin/sh\necho run >> "${folder}/runs"\n${script}\n`);
    chmodSync(join(folder, "login.sh"), 0o755);
  }
  const exec = (more: object = {}) => ({
    exec: { apiVersion: "client.authentication.k8s.io/v1", command: "./login.sh", interactiveMode: "Never", ...more },
  });
  const printing = (status: object) =>
    `printf '%s' '${JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status })}'`;

  it("hold until they expire, for all who ask at once", TIMEOUT, async () => {
    const { folder, write, find, clock } = setUp();
    const expirationTimestamp = new Date(clock.wall() + 600_000).toISOString();
    program(folder, printing({ token: "t1", expirationTimestamp }));
    const found = find({ kubeconfig: write("config", kubeconfig(exec())) });
    const both = await Promise.all([found.identity(), found.identity()]);
    assert.deepEqual(
      both.map(({ token }) => token?.reveal()),
      ["t1", "t1"],
    );
    const runs = () => readFileSync(join(folder, "runs"), "utf8").length / "run\n".length;
    assert.equal(runs(), 1);
    program(folder, printing({ token: "t2" }));
    await clock.advance(589_000);
    assert.equal((await found.identity()).token?.reveal(), "t1");
    await clock.advance(2000);
    assert.equal((await found.identity()).token?.reveal(), "t2");
    await clock.advance(86_400_000);
    assert.equal((await found.identity()).token?.reveal(), "t2");
    assert.equal(runs(), 2);
    program(folder, printing({ clientCertificateData: PEM, clientKeyData: KEY }));
    found.forget();
    const { certificate, token } = await found.identity();
    assert.deepEqual([certificate?.chain, certificate?.key.reveal(), token], [PEM, KEY, undefined]);
  });

  it("are asked for with the arguments, variables and facts that it wants", TIMEOUT, async () => {
    const { folder, write, find } = setUp();
    program(folder, `printf '%s' "$1 $WHO $KUBERNETES_EXEC_INFO" > "${folder}/asked"\n${printing({ token: "t" })}`);
    const more = { args: ["get-token"], env: [{ name: "WHO", value: "me" }], provideClusterInfo: true };
    await find({ kubeconfig: write("config", kubeconfig(exec(more))) }).identity();
    const [argument, who, ...info] = readFileSync(join(folder, "asked"), "utf8").split(" ");
    assert.deepEqual([argument, who], ["get-token", "me"]);
    assert.deepEqual(JSON.parse(info.join(" ")), {
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      spec: { interactive: false, cluster: { server: "https://api.example:6443" } },
    });
  });

  const bad: readonly (readonly [what: string, script: string, message: RegExp])[] = [
    [
      "fails",
      "echo 'please log in' >&2; exit 3",
      /login\.sh gives no credentials: it ends with 3 and says: please log in\. Run: aws configure/,
    ],
    ["prints no JSON", "echo secret", /what it prints is not JSON/],
    ["prints another document", "echo '{}'", /no ExecCredential with a status/],
    ["prints an empty status", printing({}), /neither a token nor a client certificate/],
    ["prints no time", printing({ token: "t", expirationTimestamp: "soon" }), /no time/],
    ["prints another version", printing({ token: "t" }).replace("/v1", "/v1beta1"), /another apiVersion/],
    ["prints without end", "yes", /more than 262144 bytes/],
  ];
  for (const [what, script, message] of bad) {
    it(`are not there when it ${what}`, TIMEOUT, async () => {
      const { folder, write, find } = setUp();
      program(folder, script);
      const found = find({ kubeconfig: write("config", kubeconfig(exec({ installHint: "Run: aws configure" }))) });
      await assert.rejects(found.identity(), message);
    });
  }

  it("are not there when it is missing, or does not end", TIMEOUT, async () => {
    const { folder, write, find, clock } = setUp();
    const missing = find({ kubeconfig: write("config", kubeconfig(exec({ command: "./nowhere" }))) });
    await assert.rejects(missing.identity(), /nowhere gives no credentials/);
    program(folder, "exec sleep 600");
    const endless = find({ kubeconfig: write("config", kubeconfig(exec())) });
    const failing = assert.rejects(endless.identity(), /not ended after 30 s/);
    await clock.advance(30_000);
    await failing;
  });
});

describe("credentials of a pod", () => {
  it("are those of its service account, and its token is read again after a minute", TIMEOUT, async () => {
    const { folder, write, find, clock } = setUp();
    const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
    assert.throws(() => find({}, environment), /the service account's file .*namespace can't be used: there is no such file/);
    mkdirSync(join(folder, "account"));
    write("account/ca.crt", PEM);
    write("account/namespace", "llm\n");
    write("account/token", "first");
    const found = find({}, environment);
    assert.deepEqual([found.server.href, found.namespace], ["https://[fd00::1]:6443/", "llm"]);
    assert.deepEqual(shown(await found.identity()), { ca: PEM, token: "first", chain: undefined, key: undefined });
    write("account/token", "second");
    await clock.advance(60_000);
    assert.equal((await found.identity()).token?.reveal(), "second");
  });

  it("are not there elsewhere: then ~/.kube/config is read, and without that the error says what to set", TIMEOUT, () => {
    const { folder, write, find } = setUp();
    assert.throws(() => find({}), /no way to the Kubernetes API: .*Set kubeconfig .* or KUBECONFIG/);
    mkdirSync(join(folder, ".kube"));
    write(".kube/config", kubeconfig({}));
    assert.equal(find({}).server.host, "api.example:6443");
  });
});
