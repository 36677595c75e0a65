import { quoted, type Report } from "../../../config/read/problems.ts";
import { orElse, section, writtenOf } from "../../../config/schema/section.ts";
import { urlPath } from "../../../config/schema/values.ts";
import type { Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
import { isProbePath } from "../../../core/own-routes.ts";
import { count, seconds, type ValuesOf } from "../../../core/settings/row.ts";

const WEBSOCKETS = {
  firstMessageMs: seconds(
    "firstMessageSeconds",
    10_000,
    "How long a client that names no model in the query may take to send its first message whole.",
    100,
    600_000,
  ),
  idleMs: seconds("idleSeconds", 300_000, "How long nothing may pass in either direction; pings count.", 1_000, 86_400_000),
  max: count(1_024, "WebSockets open at the same time; those beyond it get 503.", 1, 65_535),
};

const REALTIME = "/v1/realtime";

/** Where WebSockets are carried, and what bounds them. */
export interface WebSocketSettings extends ValuesOf<typeof WEBSOCKETS> {
  readonly paths: readonly string[];
}

const websockets = section(
  {
    paths: z
      .array(urlPath.describe("A path at which the replicas serve WebSockets, such as /v1/realtime or /v1/responses."))
      .min(1, "at least one path")
      .describe(`Paths whose WebSockets are carried to replicas. Default ${REALTIME} alone.`),
    ...WEBSOCKETS,
  },
  { paths: [REALTIME] },
);

type Config = WebSocketSettings | undefined;

/** `spec.websockets`. */
export const websocketsSection = {
  key: "websockets",
  schema: orElse<Config>(
    websockets.describe("Carries WebSockets to replicas that serve them. Default off: clients get 426 and use plain HTTP."),
    undefined,
  ),
  read(written: Config, { router }): Config {
    if (written !== undefined) checkPaths(written.paths, router.report);
    return written;
  },
  written: (config) => config && writtenOf(WEBSOCKETS, config),
  summary: (config) => config && [`websockets at ${config.paths.join(", ")}`, []],
} satisfies Section<Config, Config>;

/** Reports paths at which nobody can open one. */
function checkPaths(paths: readonly string[], report: Report): void {
  for (const [index, path] of paths.entries()) {
    const place = ["spec", "websockets", "paths", index];
    if (isProbePath(path))
      report(place, { found: `${quoted(path)}, which the router answers itself`, wanted: "a path of the replicas" });
    if (/[?#{]/.test(path)) report(place, { found: quoted(path), wanted: "a path as clients send it, without ?, # and braces" });
    if (paths.indexOf(path) < index) report(place, { found: `${quoted(path)} a second time`, wanted: "each path once" });
  }
}
