const UNTOLD = { message: "The replica refused the WebSocket." };

type Fields = Readonly<Record<string, unknown>>;

/** An error as a message of a session, and in a few words. */
interface ToldError {
  readonly event: string;
  readonly words: string;
}

/** Of the body of an error response, which may be anything. */
export function toldError(body: string): ToldError {
  const error = errorIn(body);
  const words = typeof error["message"] === "string" ? error["message"] : UNTOLD.message;
  return { event: JSON.stringify({ type: "error", error }), words };
}

/** The same as the Responses API has it: with the status that the response has over HTTP, and what clients read of streams. */
export function toldRefusal(status: number, body: string): string {
  const error = errorIn(body);
  const { code = null, message = UNTOLD.message, param = null } = error;
  return JSON.stringify({ type: "error", status, code, message, param, error });
}

function errorIn(body: string): Fields {
  const document = objectIn(body);
  const { error = document?.["detail"] } = document ?? {};
  if (isObject(error)) return error;
  return typeof error === "string" ? { message: error } : UNTOLD;
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
