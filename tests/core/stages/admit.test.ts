import assert from "node:assert/strict";
import { test } from "node:test";
import { admitAll } from "../../../core/stages/admit.ts";
import { makeRequest } from "../../support/endpoints.ts";

test("an admission that knows no limits lets everybody go on at once, whoever is under way", () => {
  const told: string[] = [];
  const apply = (id: string) => {
    const applicant = {
      request: makeRequest({ id }),
      admitted: () => void told.push(`${id} admitted`),
      refused: () => void told.push(`${id} refused`),
    };
    admitAll.apply(applicant);
    return applicant;
  };
  const [first] = ["a", "b", "c"].map(apply);
  admitAll.leave(first!);
  assert.deepEqual(told, ["a admitted", "b admitted", "c admitted"]);
});
