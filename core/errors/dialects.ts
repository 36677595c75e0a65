import type { Dialect, RouterError } from "../contract/errors.ts";

/** The JSON body of an error in the shape of the called API. */
export function errorBody(error: RouterError, dialect: Dialect, requestId: string): string {
  if (dialect === "anthropic") return JSON.stringify(anthropicError(error, requestId));
  return JSON.stringify({ error: openaiError(error) });
}

/** The end of a broken event stream: an error event in the shape of the called API. */
export function errorEvent(error: RouterError, dialect: Dialect, requestId: string): string {
  const name = dialect === "openai" ? "" : "event: error\n";
  return `${name}data: ${eventData(error, dialect, requestId)}\n\n`;
}

function eventData(error: RouterError, dialect: Dialect, requestId: string): string {
  if (dialect !== "responses") return errorBody(error, dialect, requestId);
  const inner = openaiError(error);
  return JSON.stringify({ type: "error", code: inner.code, message: inner.message, param: null, error: inner });
}

function openaiError({ message, kind: type, code }: RouterError) {
  // What of the request is wrong, where clients read that.
  const param = code === "previous_response_not_found" ? "previous_response_id" : null;
  return { message, type, param, code };
}

function anthropicError(error: RouterError, requestId: string) {
  const { code, kind, message } = error;
  // The code appears twice: where OpenAI has it, and where Anthropic's own packages read it.
  return {
    type: "error",
    error: { type: kind, message, code, details: { error_code: code } },
    request_id: requestId,
  };
}
