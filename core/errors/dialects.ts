import type { Dialect, RouterError } from "../contract/errors.ts";
import type { CutEvent } from "../stream/open-event.ts";

/** The JSON body of an error in the shape of the called API. */
export function errorBody(error: RouterError, dialect: Dialect, requestId: string): string {
  if (dialect === "anthropic") return JSON.stringify(anthropicError(error, requestId));
  return JSON.stringify({ error: openaiError(error) });
}

/**
 * The end of a broken event stream: an error event in the shape of the called API. Where an event was cut, the error becomes part of
 * its data, because packages fail on half a JSON text before they come to the next event.
 */
export function lastWords(error: RouterError, dialect: Dialect, requestId: string, cut: CutEvent): Uint8Array {
  return Buffer.concat([Uint8Array.from(cut.characterEnd), Buffer.from(errorText(error, dialect, requestId, cut))]);
}

function errorText(error: RouterError, dialect: Dialect, requestId: string, cut: CutEvent): string {
  const name = dialect === "openai" ? "" : "event: error\n";
  const data = eventData(error, dialect, requestId);
  const whole = `${name}data: ${data}\n\n`;
  if (cut.object === "none") return cut.text + whole;
  const members = data.slice(1);
  const nameLine = name === "" && cut.hasName ? "event:\n" : name;
  const completed = `${cut.text}${members}\n${nameLine}\n`;
  // A chunk that also has an error is read by some as a chunk only.
  return cut.object === "theirs" && name === "" ? completed + whole : completed;
}

function eventData(error: RouterError, dialect: Dialect, requestId: string): string {
  if (dialect !== "responses") return errorBody(error, dialect, requestId);
  const inner = openaiError(error);
  return JSON.stringify({ type: "error", code: inner.code, message: inner.message, param: null, error: inner });
}

function openaiError(error: RouterError) {
  return { message: error.message, type: error.kind, param: null, code: error.code };
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
