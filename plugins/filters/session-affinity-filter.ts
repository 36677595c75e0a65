import { defineFilter } from "../../core/contract/plugin.ts";
import { sessionEndpoint, sessionHeader, sessionOptions } from "./session-token.ts";

export default defineFilter({
  type: "session-affinity-filter",
  summary: "Keeps only the endpoint that the client's session token names, while it is a candidate.",
  options: sessionOptions,
  create: ({ headerName }) => ({
    expresses: "wish",
    filter(request, candidates) {
      const endpoint = sessionEndpoint(request, headerName, candidates);
      return endpoint === undefined ? candidates : [endpoint];
    },
    responseHeader: (_request, endpoint) => sessionHeader(headerName, endpoint),
  }),
});
