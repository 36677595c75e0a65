/** What tests of plugins import, as "signalbox/test-kit": data for everything that a plugin gets, and the decision itself. */
export {
  createPlugin,
  issuesOf,
  makeEndpoint,
  makeEndpoints,
  makeHeaders,
  makeHost,
  makeLoad,
  makePrefix,
  makeRequest,
  makeRoom,
  makeWaiting,
  seededRandom,
} from "./contract/test-kit.ts";
export { makeBody } from "./test-kit/body.ts";
export { type Explained, explain } from "./test-kit/explain.ts";
export { checkFeature, makeRun, type Played, type PlayedResponse, playFeature } from "./test-kit/feature.ts";
export { recordedPool, type TestPool, testPool } from "./test-kit/pool.ts";
export { checkProperties } from "./test-kit/properties.ts";
export { type RecordedDecision, recordedDecisions } from "./test-kit/recorded.ts";
export { makeDecision, makeOutcome } from "./test-kit/records.ts";
