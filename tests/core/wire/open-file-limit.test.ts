import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { affordable, affordableClients } from "../../../core/wire/open-file-limit.ts";

const limits = (openFiles: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             96372                96372                processes
Max open files            ${openFiles}                 1048576              files
Max locked memory         8388608              8388608              bytes
`;

describe("how many clients there are file descriptors for", () => {
  const cases: readonly { readonly openFiles: string; readonly clients: number }[] = [
    { openFiles: "1024", clients: 464 },
    { openFiles: "20000", clients: 9_952 },
    { openFiles: "10", clients: 1 },
    { openFiles: "unlimited", clients: Number.POSITIVE_INFINITY },
  ];
  for (const { openFiles, clients } of cases) {
    it(`${openFiles} descriptors: ${clients}`, () => assert.equal(affordable(limits(openFiles)), clients));
  }

  it("can be read of this process, or is not known", () => assert.ok(affordableClients() >= 1));
});
