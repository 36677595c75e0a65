import { type Dialect, RouterError } from "../../../core/contract/errors.ts";
import { errorEvent } from "../../../core/errors/dialects.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * A response with an error status as the error event of a stream that has begun: what the body says of the error, in the shape of the
 * called API. A body without anything to read gets a sentence of the router's own.
 */
export function refusalEvent(status: number, body: string, dialect: Dialect, requestId: string): string {
  const said = errorIn(body);
  if (said === undefined) return errorEvent(unreadable(status), dialect, requestId);
  if (dialect === "anthropic") return eventOf("error", { type: "error", error: said, request_id: requestId });
  const { message = "", code = null, param = null } = said;
  if (dialect === "openai") return eventOf("", { error: said });
  return eventOf("error", { type: "error", code, message, param, error: said });
}

function eventOf(name: string, data: Fields): string {
  return `${name === "" ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** What engines and the router itself call an error: `error`, the document itself, or FastAPI's `detail`. */
function errorIn(body: string): Fields | undefined {
  const document = objectIn(body);
  if (document === undefined) return undefined;
  const { error, message, detail } = document;
  if (isObject(error)) return error;
  if (typeof message === "string") return document;
  const said = error ?? detail;
  if (said === undefined || said === null) return undefined;
  return { message: typeof said === "string" ? said : JSON.stringify(said), type: "api_error", param: null, code: null };
}

function objectIn(body: string): Fields | undefined {
  try {
    const document: unknown = JSON.parse(body);
    return isObject(document) ? document : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unreadable(status: number): RouterError {
  return new RouterError("upstream_invalid", `The replica answered with status ${status}; look for the cause in its log.`);
}
