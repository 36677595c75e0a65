import { defineScorer } from "../../core/contract/plugin.ts";
import { sessionEndpoint, sessionHeader, sessionOptions } from "../filters/session-token.ts";

/** score = 1 for the session's endpoint, else 0; no opinion if the session has no endpoint among the candidates. */
export default defineScorer({
  type: "session-affinity-scorer",
  summary: "Prefers the endpoint that the client's session token names.",
  options: sessionOptions,
  create: ({ headerName }) => ({
    score(request, candidates) {
      const endpoint = sessionEndpoint(request, headerName, candidates);
      return endpoint === undefined ? null : candidates.map((candidate) => (candidate === endpoint ? 1 : 0));
    },
    responseHeader: (_request, endpoint) => sessionHeader(headerName, endpoint),
  }),
});
