/**
 * The interface of a model-server replica as a table of assertions. It runs against any base URL: the mock, a real vLLM,
 * or the router in front of either, and so says only what holds for all of them.
 */
import type { Need, ReplicaAssertion } from "./replica-contract/checks.ts";
import { embeddingRows } from "./replica-contract/embeddings.ts";
import { engineRows } from "./replica-contract/engine.ts";
import { errorRows } from "./replica-contract/errors.ts";
import { serviceRows } from "./replica-contract/service.ts";
import { streamRows } from "./replica-contract/streams.ts";
import { wholeAnswerRows } from "./replica-contract/whole-answers.ts";

/** Every row of the contract; see Need for what each can be run against. */
const replicaAssertions: readonly ReplicaAssertion[] = [
  ...serviceRows,
  ...wholeAnswerRows,
  ...streamRows,
  ...embeddingRows,
  ...errorRows,
  ...engineRows,
];

/** The rows that fit a deployment. */
export function assertionsFor(...needs: readonly Need[]): ReplicaAssertion[] {
  return replicaAssertions.filter((row) => needs.includes(row.needs));
}
