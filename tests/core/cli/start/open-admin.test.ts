import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Status } from "../../../../core/admin/status.ts";
import { askAdmin } from "../../../../core/cli/admin/ask-admin.ts";
import { statusText } from "../../../../core/cli/commands/status.ts";
import { type OpenAdmin, openAdmin } from "../../../../core/cli/start/open-admin.ts";
import { parseEndpointUrl } from "../../../../core/contract/endpoint-url.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import { printable } from "../../../../core/contract/printable.ts";
import type { RunningConfig } from "../../../../core/control/running-config.ts";
import { DEFAULT_SETTINGS } from "../../../../core/settings.ts";
import { makeRunning } from "../../../support/admin.ts";
import { startTestRouter, type TestRouter } from "../../../support/router.ts";
import { type ScriptedReplica, startScriptedReplica } from "../../../support/scripted-replica.ts";

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
  it("in use: the message names the switch", async () => {
    await assert.rejects(open(address(router.port)), /^Error: 127\.0\.0\.1:\d+ is in use; .* another with --admin-port/);
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
    const status = (await askAdmin({ admin: parseEndpointUrl(urlIn(admin)), text: () => undefined }, "/status")) as {
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
      running,
      commandLine: {},
      droppedLogLines: () => 0,
      settings: DEFAULT_SETTINGS,
      sources: [nasty],
      log: silentLog,
    });
    after(() => admin?.close());
    const status = (await askAdmin({ admin: parseEndpointUrl(urlIn(admin)), text: () => undefined }, "/status")) as Status;
    assert.equal(status.pool, "p?2J");
    assert.deepEqual(status.endpoints[0]?.models, ["a?[2J??b???"]);
    assert.deepEqual(status.endpoints[0]?.labels, { "k?[2J": "v?[2J" });
    for (const text of [JSON.stringify(status), statusText(status).replaceAll("\n", "")]) assert.equal(printable(text), text);
  });

  it("says that nobody listens", async () => {
    const admin = await open(address(0));
    await admin?.close();
    await assert.rejects(
      askAdmin({ admin: parseEndpointUrl(urlIn(admin)), text: () => undefined }, "/status"),
      /^Error: Nobody listens at http:.*; start the router, or name its admin port with --admin URL or SIGNALBOX_ADMIN\.$/,
    );
  });

  it("says that the port is not an admin port", async () => {
    await assert.rejects(
      askAdmin({ admin: parseEndpointUrl(router.url), text: () => undefined }, "/status"),
      /is not a router's admin port; name the admin port with --admin URL\.$/,
    );
  });
});
