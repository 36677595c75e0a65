import { RouterError } from "../../../core/contract/errors.ts";
import { defineFeature } from "../../../core/contract/plugin.ts";
import type { OwnRoute } from "../../../core/contract/slots/answer.ts";

const FILES = "each replica keeps files of its own, and no list of all is made";
const BATCHES = "each replica keeps batches of its own, and no list of all is made";
const RESPONSES = "engines serve no such part of a stored response";
const OTHERS = "what this path names is kept by one replica, and the router can't know which";

const REALTIME = "it is served over a WebSocket, which spec.websockets turns on";

/** Paths that are not served, and why. */
const REASONS: readonly (readonly [path: string, why: string])[] = [
  ["/v1/files", FILES],
  ["/v1/uploads", OTHERS],
  ["/v1/batches", BATCHES],
  ["/v1/messages/batches", OTHERS],
  ["/v1/conversations", OTHERS],
  ["/v1/vector_stores", OTHERS],
  ["/v1/videos", OTHERS],
  ["/v1/realtime", REALTIME],
];

/** Paths that the router can't serve get a 501 that says why, where no parser of the config serves them. */
export default defineFeature({
  type: "refused-paths",
  summary: "Answers paths that the router can't serve, such as lists of files, with 501 and the reason, unless a parser does.",
  runsByDefault: true,
  create: () => ({
    routes: [
      ...REASONS.flatMap(([path, why]) => [...refused(path, why), ...refused(`${path}/*`, why)]),
      ...refused("/v1/responses/*", RESPONSES),
    ],
  }),
});

function refused(path: string, why: string): readonly OwnRoute[] {
  const message = `This router does not serve that path: ${why}; ask the replica itself, or list the path for the plugin passthrough.`;
  const answer = () => {
    throw new RouterError("not_implemented", message);
  };
  return (["GET", "POST", "DELETE"] as const).map((method) => ({ method, path, bodyBytes: 0, isRefused: true, answer }));
}
