export {
  makeEndpoint,
  makeEndpoints,
  makeHeaders,
  makeLoad,
  makePrefix,
  makeRequest,
  seededRandom,
} from "../../core/test-kit.ts";
