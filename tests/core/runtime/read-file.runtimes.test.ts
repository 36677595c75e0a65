import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { checkRegular, readBounded, readBoundedNow, UnreadableFile } from "../../../core/runtime/read-file.ts";

const MOST = 100_000;
const folder = mkdtempSync(join(tmpdir(), "signalbox-read-"));
const at = (name: string) => join(folder, name);
const socket = createServer();
after(() => {
  socket.close();
  rmSync(folder, { recursive: true });
});

writeFileSync(at("file"), "text");
writeFileSync(at("large"), "x".repeat(MOST + 5));
writeFileSync(at("empty"), "");
execFileSync("/bin/sh", ["-c", 'mkfifo "$0"', at("pipe")]);
for (const [name, target] of [
  ["link", "file"],
  ["link-to-link", "link"],
  ["link-to-pipe", "pipe"],
  ["link-to-nothing", "nothing"],
  ["link-to-device", "/dev/zero"],
] as const)
  symlinkSync(target, at(name));
await new Promise<void>((resolve) => socket.listen(at("socket"), resolve));

const READERS = { readBounded, readBoundedNow: async (path: string, most: number) => readBoundedNow(path, most) };

for (const [name, read] of Object.entries(READERS))
  describe(name, () => {
    for (const [file, text] of [
      ["file", "text"],
      ["link", "text"],
      ["link-to-link", "text"],
      ["empty", ""],
      ["large", "x".repeat(MOST + 1)],
    ] as const)
      it(`reads ${file}`, async () => assert.equal((await read(at(file), MOST)).toString(), text));

    for (const [path, kind] of [
      [folder, "a folder"],
      [at("pipe"), "a named pipe"],
      [at("link-to-pipe"), "a named pipe"],
      [at("socket"), "a socket"],
      ["/dev/zero", "a device"],
      [at("link-to-device"), "a device"],
      ["/dev/tty", "a device"],
    ] as const)
      it(`refuses ${kind} at once: ${path.replace(folder, "")}`, async () => {
        const message = `it is ${kind}, not a regular file`;
        await assert.rejects(read(path, MOST), (thrown) => thrown instanceof UnreadableFile && thrown.message === message);
      });

    for (const file of ["nothing", "link-to-nothing"])
      it(`passes the system's error on: ${file}`, () => assert.rejects(read(at(file), MOST), { code: "ENOENT" }));
  });

it("checkRegular tells the same without reading", async () => {
  await checkRegular(at("link"));
  await checkRegular("/dev/stdin");
  await assert.rejects(checkRegular(at("pipe")), /it is a named pipe/);
});

describe("a pipe that was handed over", () => {
  const opened = openSync(at("pipe"), constants.O_RDWR);
  const path = `/dev/fd/${opened}`;
  after(() => closeSync(opened));

  it("is read when its writer has written", async () => {
    const text = readBounded(path, 3);
    setImmediate(() => writeSync(opened, "text"));
    assert.equal((await text).toString(), "text");
  });

  it("is given up when nobody writes, and costs no thread", async () => {
    const late = await Promise.allSettled(Array.from({ length: 10 }, () => readBounded(path, MOST, 50)));
    for (const one of late) assert.match(String(one.status === "rejected" && one.reason), /not read to its end within 0\.05 s/);
    assert.equal((await readBounded(at("file"), MOST)).toString(), "text");
  });
});
