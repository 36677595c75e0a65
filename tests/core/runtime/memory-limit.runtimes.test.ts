import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { containerLimit, defaultMemoryBytes, shareOf } from "../../../core/runtime/memory-limit.ts";

const GIB = 2 ** 30;
const MEMORY_V1 = "/sys/fs/cgroup/memory";

const rows: Record<string, { readonly files: Readonly<Record<string, string>>; readonly limit: number }> = {
  "no control groups": { files: {}, limit: Number.POSITIVE_INFINITY },
  "version 2, its own group as the root": {
    files: { "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "1073741824\n" },
    limit: GIB,
  },
  "version 2, no limit": {
    files: { "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "max\n" },
    limit: Number.POSITIVE_INFINITY,
  },
  "version 2, a group within a group: the least counts": {
    files: {
      "/proc/self/cgroup": "0::/a.slice/b.service\n",
      "/sys/fs/cgroup/a.slice/memory.max": "500\n",
      "/sys/fs/cgroup/a.slice/b.service/memory.max": "700\n",
    },
    limit: 500,
  },
  "version 1": {
    files: {
      "/proc/self/cgroup": "5:cpu,cpuacct:/c\n4:memory:/docker/abc\n0::/\n",
      [`${MEMORY_V1}/docker/abc/memory.limit_in_bytes`]: "2147483648\n",
    },
    limit: 2 * GIB,
  },
  "version 1, its own group as the root": {
    files: { "/proc/self/cgroup": "4:memory:/docker/abc\n", [`${MEMORY_V1}/memory.limit_in_bytes`]: "300\n" },
    limit: 300,
  },
};

describe("the limit of the container", () => {
  for (const [name, { files, limit }] of Object.entries(rows))
    it(name, () =>
      assert.equal(
        containerLimit((path) => files[path] ?? ""),
        limit,
      ),
    );
});

describe("what requests may hold together", () => {
  for (const [memory, share] of [
    [400, 100],
    [2 * GIB, GIB / 2],
    [64 * GIB, GIB],
  ] as const)
    it(`${share} of ${memory} bytes`, () => assert.equal(shareOf(memory), share));

  test("on this machine", () => {
    const bytes = defaultMemoryBytes();
    assert.ok(bytes > 0 && bytes <= GIB, String(bytes));
  });
});
