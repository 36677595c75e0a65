import { RouterError } from "../contract/errors.ts";
import type { UpstreamFailure } from "../wire/response-reader.ts";

/** The error for a client whose request got no complete response from a replica. */
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
        "The replica did not respond in time; send a smaller request or raise the router's limits.",
      );
    case "wedged":
      return new RouterError("upstream_timeout", "The replica stopped making progress; send the request again.");
    case "invalid":
      return new RouterError("upstream_invalid", "The replica's response was not valid HTTP; look for the cause in its log.");
    case "gone":
      return new RouterError("upstream_reset", "The replica went away before its response was complete; send the request again.");
    case "stale":
    case "reset":
      return new RouterError(
        "upstream_reset",
        "The replica closed the connection before its response was complete; look for the cause in its log.",
      );
  }
}

/** So many were tried, and others may be left that the limit of tries did not allow. */
export function noneReached(tried: number, areLeft: boolean): RouterError {
  const message = areLeft
    ? `The replicas that were tried (${tried}) could not be reached; send the request again, or allow more tries by limits.retries.`
    : `No replica that may serve this request could be reached (${tried} tried); check that the replicas are running.`;
  return new RouterError("upstream_unreachable", message, { retryAfterS: 1 });
}

/** The replica ended its response as if it were whole. */
export function unfinished(): RouterError {
  const message = "The replica ended its response before the answer was complete; look for the cause in its log.";
  return new RouterError("upstream_reset", message);
}

export function allSaturated(): RouterError {
  const message = "Every replica that could serve this request has all its connections in use; try again shortly.";
  return new RouterError("saturated", message, { retryAfterS: 1 });
}

export function tooManyOfClient(): RouterError {
  const message = "This client address has reached its limit of requests under way; wait until one has ended.";
  return new RouterError("client_saturated", message, { retryAfterS: 1 });
}

export function stopping(): RouterError {
  return new RouterError("shutting_down", "The router is stopping; send the request again.", { retryAfterS: 1 });
}
