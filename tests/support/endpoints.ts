export {
  makeEndpoint,
  makeEndpoints,
  makeHeaders,
  makeLoad,
  makePrefix,
  makeRequest,
  seededRandom,
} from "../../core/contract/test-kit.ts";
