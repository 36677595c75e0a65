import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { affordableClients, openFileLimit } from "../../../core/runtime/open-file-limit.ts";

const limits = (openFiles: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             96372                96372                processes
Max open files            ${openFiles}                 1048576              files
Max locked memory         8388608              8388608              bytes
`;

describe("how many clients there are file descriptors for", () => {
  const cases: readonly { readonly openFiles: string; readonly served: number; readonly waiting: number }[] = [
    { openFiles: "1024", served: 435, waiting: 58 },
    { openFiles: "20000", served: 9_440, waiting: 1_024 },
    { openFiles: "10", served: 1, waiting: 0 },
    { openFiles: "unlimited", served: Number.POSITIVE_INFINITY, waiting: 1_024 },
  ];
  for (const { openFiles, served, waiting } of cases) {
    it(`${openFiles} descriptors: ${served} are served, ${waiting} may wait`, () =>
      assert.deepEqual(affordableClients(openFileLimit(limits(openFiles))), { served, waiting }));
  }

  it("can be read of this process, or is not known", () => assert.ok(affordableClients().served >= 1));
});
