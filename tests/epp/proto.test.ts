import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { PROTO_MODULE, protoModuleText } from "../support/proto-text.ts";

it("the committed code of the messages is made of ext-proc.proto", () => {
  assert.equal(readFileSync(PROTO_MODULE, "utf8"), protoModuleText(), "run: npm run proto");
});
