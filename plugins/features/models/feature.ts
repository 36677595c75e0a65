import { defineFeature } from "../../../core/contract/plugin.ts";
import type { Run } from "../../../core/run.ts";
import { modelList, oneModel } from "./model-list.ts";

const PATH = "/v1/models";

/** GET /v1/models: what clients may ask for now, merged over the replicas and with the names that rewrites stand for. */
export default defineFeature({
  type: "models",
  summary: "Answers GET /v1/models with what clients may ask for now.",
  runsByDefault: true,
  create: () => ({
    routes: [route(PATH, modelList), route(`${PATH}/*`, (run) => oneModel(run, run.ticket.path.slice(PATH.length + 1)))],
  }),
});

const route = (path: string, documentOf: (run: Run) => unknown) => ({
  method: "GET" as const,
  path,
  bodyBytes: 0,
  answer: (run: Run) => ({
    status: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(documentOf(run)),
  }),
});
