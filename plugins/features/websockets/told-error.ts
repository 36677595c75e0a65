const UNTOLD = { message: "The replica refused the WebSocket." };

/** An error as a message of a session, and in a few words. */
interface ToldError {
  readonly event: string;
  readonly words: string;
}

/** Of the body of an error response, which may be anything. */
export function toldError(body: string): ToldError {
  const error = errorIn(body) ?? UNTOLD;
  const words = "message" in error && typeof error.message === "string" ? error.message : UNTOLD.message;
  return { event: JSON.stringify({ type: "error", error }), words };
}

function errorIn(body: string): object | undefined {
  try {
    const { error } = JSON.parse(body) as { readonly error?: unknown };
    return typeof error === "object" && error !== null ? error : undefined;
  } catch {
    return undefined;
  }
}
