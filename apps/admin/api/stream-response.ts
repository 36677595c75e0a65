import type { EventStreams } from "../event-streams.ts";

const CONTENT_TYPE = "text/event-stream";

/** Begins to listen to an observer's stream. Throws Problem for a query that is not valid, and when there are too many listeners. */
export function streamResponse(request: Request, path: string, streams: EventStreams): Response {
  const body = streams.listen(path, new URL(request.url).searchParams, request.signal);
  const headers = { "content-type": CONTENT_TYPE };
  if (request.method !== "HEAD") return new Response(body, { headers });
  void body.cancel();
  return new Response(null, { headers });
}

/** Whether a response of the API is a stream, which has no end to wait for. */
export function isEventStream(response: Response): response is Response & { readonly body: NonNullable<Response["body"]> } {
  return response.body !== null && response.headers.get("content-type") === CONTENT_TYPE;
}
