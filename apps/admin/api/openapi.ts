import type { ObserverStream } from "../../../core/contract/observer.ts";
import { z } from "../../../core/contract/options.ts";
import { type ApiRoute, changes, route } from "./route.ts";

const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe("What to do."),
  code: z.string().describe("Stable, for programs."),
  faults: z.array(z.string()).optional(),
});

/** The route that describes the others and the observers' streams, as an OpenAPI 3.1 document. */
export function openApiRoute(routes: readonly ApiRoute[], streams: () => readonly ObserverStream[]): ApiRoute {
  let fixed: ReturnType<typeof openApi> | undefined;
  const own: ApiRoute = route({
    method: "GET",
    path: "/openapi.json",
    id: "describeApi",
    summary: "This document.",
    response: z.looseObject({ openapi: z.string() }),
    run: () => {
      fixed ??= openApi([...routes, own]);
      const added = streams().map((stream) => [stream.path, { get: streamOperation(stream) }]);
      return { document: { ...fixed, paths: { ...Object.fromEntries(added), ...fixed.paths } } };
    },
  });
  return own;
}

function openApi(routes: readonly ApiRoute[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const each of routes) {
    const path = each.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [each.method.toLowerCase()]: operation(each) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Signalbox admin API",
      version: "1",
      description:
        "GET shows, and so does POST /explain; the other operations change. A change needs Content-Type: application/json, the token of spec.admin.token where one is set, and obeys If-Match with the ETag of a GET.",
    },
    servers: [{ url: "/api/v1" }],
    paths,
    components: {
      schemas: { Problem: schemaOf(problem) },
      securitySchemes: { token: { type: "http", scheme: "bearer", description: "The token of spec.admin.token." } },
    },
  };
}

function operation(described: ApiRoute): unknown {
  const { path, id, summary, body, response, query } = described;
  const isChange = changes(described);
  const parameters = [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...query.map(queryParameter),
    ...(isChange ? [IF_MATCH] : []),
  ];
  return {
    operationId: id,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { content: { "application/json": { schema: schemaOf(body) } } } }),
    ...(isChange && { security: [{}, { token: [] }] }),
    responses: {
      200: {
        description: "Done.",
        headers: { ETag: { description: "The generation of the config.", schema: { type: "string" } } },
        content: { "application/json": { schema: schemaOf(response) } },
      },
      default: REFUSED,
    },
  };
}

function streamOperation({ path, summary, parameters }: ObserverStream): unknown {
  return {
    operationId: `listen${path.replace(/\W+(\w)?/g, (_, letter: string | undefined) => letter?.toUpperCase() ?? "")}`,
    summary,
    ...(parameters.length > 0 && { parameters: parameters.map(queryParameter) }),
    responses: {
      200: {
        description: "Server-sent events. An event `dropped` says in `count` how many were dropped in its place.",
        content: { "text/event-stream": { schema: { type: "string" } } },
      },
      default: REFUSED,
    },
  };
}

function queryParameter({ name, meaning }: ObserverStream["parameters"][number]): unknown {
  return { name, in: "query", description: meaning, schema: { type: "string" } };
}

const REFUSED = {
  description: "Refused.",
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
};

const IF_MATCH = {
  name: "If-Match",
  in: "header",
  description: "The change is refused with 412 if the config has another generation by now.",
  schema: { type: "string" },
};

/** OpenAPI 3.1 takes JSON Schema 2020-12 as it is. */
function schemaOf(schema: z.ZodType): unknown {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: "draft-2020-12", io: "input" });
  return rest;
}
