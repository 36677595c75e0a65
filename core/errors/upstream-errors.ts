import { RouterError } from "../contract/errors.ts";
import type { UpstreamFailure } from "../wire/upstream-connection.ts";

/** What the client is told when no replica could answer. */
export function upstreamError(failure: UpstreamFailure): RouterError {
  switch (failure) {
    case "connect-failed":
    case "connect-timeout":
      return new RouterError("upstream_unreachable", "No replica could be reached; check that the replicas are running.", {
        retryAfterS: 1,
      });
    case "timeout":
      return new RouterError(
        "upstream_timeout",
        "The replica did not answer in time; ask for less or raise the router's limits.",
      );
    case "wedged":
      return new RouterError(
        "upstream_timeout",
        "The replica stopped making progress and was taken out of the pool; send the request again.",
      );
    case "invalid":
      return new RouterError("upstream_invalid", "The replica's answer was not valid HTTP; its log may tell why.");
    case "gone":
      return new RouterError("upstream_reset", "The replica went away while it was answering; send the request again.");
    case "stale":
    case "reset":
      return new RouterError(
        "upstream_reset",
        "The replica closed the connection before its answer was complete; its log may tell why.",
      );
  }
}

export function allSaturated(): RouterError {
  return new RouterError("saturated", "Every replica that could serve this has all its connections in use; try again shortly.", {
    retryAfterS: 1,
  });
}

export function stopping(): RouterError {
  return new RouterError("shutting_down", "The router is stopping; send the request again.", { retryAfterS: 1 });
}
