import assert from "node:assert/strict";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { figuresOf } from "../../../../apps/admin/pool-sites.ts";
import type { Status } from "../../../../apps/admin/status.ts";
import { askAdmin } from "../../../../apps/cli/admin/ask-admin.ts";
import { statusText } from "../../../../apps/cli/commands/status.ts";
import { type OpenAdmin, openAdmin } from "../../../../apps/cli/start/open-admin.ts";
import { holderText } from "../../../../apps/cli/start/taken-port.ts";
import type { RunningConfig } from "../../../../config/running/running-config.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import { printable } from "../../../../core/contract/printable.ts";
import { DEFAULT_SETTINGS } from "../../../../core/settings.ts";
import { makeRunning } from "../../../support/admin.ts";
import { adminInput } from "../../../support/cli.ts";
import { startTestRouter, type TestRouter } from "../../../support/router.ts";
import { type ScriptedReplica, startScriptedReplica } from "../../../support/scripted-replica.ts";
import { TEXTS } from "../../../support/section-modules.ts";

let replica: ScriptedReplica;
let router: TestRouter;
let running: RunningConfig;
before(async () => {
  running = await makeRunning();
  replica = await startScriptedReplica(() => {});
  router = await startTestRouter([replica.url]);
});
after(async () => {
  await router.close();
  await replica.close();
});

const warnings: string[] = [];
const open = (configured: Parameters<typeof openAdmin>[0]): Promise<OpenAdmin | undefined> => {
  warnings.length = 0;
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  return openAdmin(configured, {
    ...router,
    figures: figuresOf(router.router),
    running,
    commandLine: {},
    settings: DEFAULT_SETTINGS,
    sources: ["test.yaml"],
    droppedLogLines: () => 0,
    log,
  });
};
const urlIn = (admin: OpenAdmin | undefined) => /Status page: (http:\S+)\/ /.exec(admin?.greeting ?? "")?.[1] ?? "";
const address = (port: number, host = "127.0.0.1") => ({
  host,
  port,
  isPortShared: false,
  hosts: [],
  tokens: [],
  isReadOnly: false,
});

describe("where the admin port is", () => {
  it("nowhere when there is to be none", async () => assert.equal(await open(undefined), undefined));

  it("on the host of the config", async () => {
    const admin = await open(address(0, "localhost"));
    assert.match(urlIn(admin), /^http:\/\/localhost:\d+$/);
    assert.deepEqual(warnings, []);
    await admin?.close();
  });

  it("on all networks, with a warning", async () => {
    const admin = await open(address(0, "0.0.0.0"));
    assert.equal(warnings.length, 1);
    await admin?.close();
  });
});

describe("an address that can't be listened on", () => {
  const HEALTHY = "HTTP/1.1 200 OK\r\ncontent-length: 30\r\nconnection: close\r\n\r\nPrometheus Server is Healthy.\n";
  const OTHER = "HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno";
  const holders: readonly (readonly [name: string, sent: string, holder: string])[] = [
    ["Prometheus", HEALTHY, " by Prometheus, whose usual port is 9090 too"],
    ["a web server", OTHER, " by another HTTP server"],
    ["what speaks no HTTP", "220 files.example ESMTP\r\n", " by something that does not speak HTTP"],
    ["what ends each connection", "", ""],
  ];
  for (const [name, sent, holder] of holders)
    it(`in use by ${name}: the message says so and proposes a port that is free`, async () => {
      const server = createServer((socket) => {
        socket.on("error", () => {});
        socket.once("data", () => socket.end(sent));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const thrown = await open(address(port)).catch((error: unknown) => String(error));
      server.close();
      const said =
        /^Error: 127\.0\.0\.1:(\d+) is in use(.*); stop what listens there or choose another with --admin-port: (\d+) is free \(admin: false/;
      const [, taken, by, free] = said.exec(String(thrown)) ?? assert.fail(String(thrown));
      assert.deepEqual([taken, by], [String(port), holder]);
      const admin = await open(address(Number(free)));
      await admin?.close();
    });

  it("in use by a router's port for clients: the message says so", async () => {
    const said = / is in use by a router of this program \(\d of 1 replicas ready\); stop/;
    await assert.rejects(open(address(router.port)), said);
  });

  /** By path, what a server of a kind has. */
  const asked: readonly (readonly [name: string, pages: Readonly<Record<string, string>>, holder: string])[] = [
    [
      "a router's port for clients",
      { "/health": "{}", "/ready": '{"ready":1,"endpoints":2}' },
      "a router of this program (1 of 2 replicas ready)",
    ],
    ["an engine", { "/health": "" }, "another HTTP server"],
    ["another server whose health is an empty object", { "/health": "{}", "/ready": "yes" }, "another HTTP server"],
    [
      "Prometheus",
      { "/": '302 <a href="/query">Found</a>.', "/-/healthy": "Prometheus Server is Healthy." },
      "Prometheus, whose usual port is 9090 too",
    ],
    [
      "a router's admin port",
      { "/": "<title>Signalbox</title>", "/status": '{"pool":"llama","isWell":true}' },
      'a router of this program (pool "llama")',
    ],
    ["a web server", { "/": "<title>Files</title>" }, "another HTTP server"],
  ];
  for (const [name, pages, holder] of asked)
    it(`${name} is asked for nothing but its health that it does not have`, async () => {
      const missed: string[] = [];
      const server = createHttpServer((request, response) => {
        const page = pages[request.url ?? ""];
        if (page === undefined) missed.push(request.url ?? "");
        response.writeHead(page === undefined ? 404 : page.startsWith("302") ? 302 : 200).end(page?.replace(/^302 /, ""));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      assert.equal(await holderText("127.0.0.1", port), ` by ${holder}`);
      server.close();
      assert.deepEqual(missed, "/health" in pages ? [] : ["/health"]);
    });

  it("in use by another router: the message names its pool", async () => {
    const first = await open(address(0));
    const { port } = new URL(urlIn(first));
    await assert.rejects(open(address(Number(port))), /is in use by a router of this program \(pool "[\w-]+"\); stop/);
    await first?.close();
  });

  it("of another machine: the message names the key", async () => {
    await assert.rejects(
      open(address(0, "192.0.2.1")),
      /^Error: 192\.0\.2\.1 is not an address of this machine; check spec\.admin\.host/,
    );
  });
});

describe("askAdmin", () => {
  it("returns a page's JSON", async () => {
    const admin = await open(address(0));
    const status = (await askAdmin(adminInput(urlIn(admin)), "/status")) as {
      sources: string[];
    };
    assert.deepEqual(status.sources, ["test.yaml"]);
    await admin?.close();
  });

  it("returns names from outside without control characters, in keys too", async () => {
    const nasty = "a\u001b[2J\r\nb\u009b\u2028\u202e";
    const hostile = await startScriptedReplica(() => {}, [nasty]);
    after(() => hostile.close());
    const spec = `  pool: { name: "p\\x9b2J", endpoints: [ { url: "${hostile.url}", labels: { "k\\e[2J": "v\\e[2J" } } ] }`;
    const over = await startTestRouter([], { spec, ready: 1 });
    after(() => over.close());
    const admin = await openAdmin(address(0), {
      ...over,
      figures: figuresOf(over.router),
      running,
      commandLine: {},
      droppedLogLines: () => 0,
      settings: DEFAULT_SETTINGS,
      sources: [nasty],
      log: silentLog,
    });
    after(() => admin?.close());
    const status = (await askAdmin(adminInput(urlIn(admin)), "/status")) as Status;
    assert.equal(status.pool, "p?2J");
    assert.deepEqual(status.endpoints[0]?.models, ["a?[2J??b???"]);
    assert.deepEqual(status.endpoints[0]?.labels, { "k?[2J": "v?[2J" });
    for (const text of [JSON.stringify(status), statusText(status, TEXTS).replaceAll("\n", "")])
      assert.equal(printable(text), text);
  });

  it("says that nobody listens", async () => {
    const admin = await open(address(0));
    await admin?.close();
    await assert.rejects(
      askAdmin(adminInput(urlIn(admin)), "/status"),
      /^Error: Nobody listens at http:.*; start the router, or name its admin port with --admin URL or SIGNALBOX_ADMIN\.$/,
    );
  });

  it("says that the port is not an admin port", async () => {
    await assert.rejects(
      askAdmin(adminInput(router.url), "/status"),
      /is not a router's admin port; name the admin port with --admin URL\.$/,
    );
  });
});
