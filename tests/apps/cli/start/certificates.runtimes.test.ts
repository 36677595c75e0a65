import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { after, describe, it } from "node:test";
import { warningsOf } from "../../../../apps/admin/status-warnings.ts";
import { logCertificates, tlsView } from "../../../../apps/cli/start/certificates.ts";
import { loadTexts } from "../../../../config/load.ts";
import { TlsFiles } from "../../../../config/router/tls-files.ts";
import { systemClock } from "../../../../core/contract/clock.ts";
import { builtIns } from "../../../../plugins/registry.ts";
import { certificateFolder, makeAuthority } from "../../../support/certificates.ts";
import { collectedLog } from "../../../support/collected-log.ts";
import { makeShownRouter, makeSite } from "../../../support/view.ts";

const folder = certificateFolder();
after(() => folder.remove());
const authority = makeAuthority("authority.test");
folder.write("late", authority.issue({ names: ["late.test"], hours: -2 }));
// It began an hour ago, and more than nine tenths of its time are over.
folder.write("soon", authority.issue({ names: ["soon.test"], hours: 0.1 }));
folder.write("good", authority.issue({ names: ["good.test"] }));
writeFileSync(folder.at("ca.crt"), authority.cert);

const text = `apiVersion: signalbox/v1
kind: Router
spec:
  listen: { tls: { certFile: late.crt, keyFile: late.key, clientCaFile: ca.crt, sni: [{ certFile: soon.crt, keyFile: soon.key }] } }
  pool: { tls: { caFile: ca.crt }, endpoints: [{ url: https://a, tls: { certFile: good.crt, keyFile: good.key } }] }
`;
const PLUGIN =
  "  plugins: [ { type: metrics, parameters: { port: 1, tls: { caFile: ca.crt, certFile: good.crt, keyFile: good.key } } } ]\n";

async function load(tlsFiles = new TlsFiles(), more = "") {
  const loaded = await loadTexts([{ file: folder.at("a.yaml"), text: text + more }], builtIns, [], undefined, true, [], tlsFiles);
  assert.ok(loaded.problems === undefined, JSON.stringify(loaded.problems));
  return loaded.config;
}

function warningsNow(config: Awaited<ReturnType<typeof load>>): readonly string[] {
  const site = makeSite(makeShownRouter(), { clock: systemClock, tls: () => tlsView(config, {}) });
  const warnings = warningsOf(site, []);
  return warnings.filter((warning) => warning.includes("ertificate"));
}

describe("what is said of certificates", () => {
  it("each file once for each place, when it expires, and the handshakes that failed", async () => {
    const { certificates, failures } = tlsView(await load(undefined, PLUGIN), {
      listen: { left: 2, other: 0 },
      admin: undefined,
    });
    assert.deepEqual(
      certificates.map(({ port, file, names }) => [port, basename(file), ...names]),
      [
        ["listen", "late.crt", "late.test"],
        ["listen", "soon.crt", "soon.test"],
        ["listen", "ca.crt"],
        ["pool", "ca.crt"],
        ["pool", "good.crt", "good.test"],
        ["plugins", "good.crt", "good.test"],
        ["plugins", "ca.crt"],
      ],
    );
    assert.deepEqual(failures, [
      { port: "listen", reason: "left", count: 2 },
      { port: "listen", reason: "other", count: 0 },
    ]);
  });

  it("one that has expired is logged; one that soon will is a warning too", async () => {
    const config = await load();
    const log = collectedLog();
    logCertificates(config, log);
    assert.equal(log.lines.length, 1);
    assert.match(log.lines[0]!, /^warning: A certificate has expired .*late\.crt/);
    const warnings = warningsNow(config);
    assert.equal(warnings.length, 2);
    assert.match(warnings[0]!, /^The certificate in .*late\.crt expired at 2\d{3}-.*: renew it\.$/);
    assert.match(warnings[1]!, /^The certificate in .*soon\.crt expires at /);
  });

  it("files that can't be used any more stay what they were, and are told", async () => {
    const tlsFiles = new TlsFiles();
    const before = await load(tlsFiles);
    writeFileSync(folder.at("good.key"), "nonsense");
    writeFileSync(folder.at("ca.crt"), "nonsense");
    const config = await load(tlsFiles);
    const pairOf = ({ settings }: typeof config) => [...(settings.replicaTls?.ofEndpoint.values() ?? [])][0]?.pair;
    assert.equal(pairOf(config)?.key.reveal(), pairOf(before)?.key.reveal());
    const log = collectedLog();
    logCertificates(config, log);
    const told = log.lines.filter((line) => line.startsWith("error: A renewed certificate can't be used"));
    assert.equal(told.length, 3);
    assert.equal(warningsNow(config).filter((warning) => warning.includes("the one before goes on")).length, 3);
  });
});
