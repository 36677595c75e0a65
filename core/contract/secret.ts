/**
 * A secret that the config names. Printing it in any way shows "[secret]".
 *
 * @example
 * const headers = { authorization: `Bearer ${host.secret("env:PREDICTOR_KEY").reveal()}` };
 */
export interface Secret {
  /** Where it comes from: env:NAME or file:PATH. */
  readonly from: string;
  /** The secret itself. Use it at the place that needs it; never put it into a message, a log line or a document. */
  reveal(): string;
}

/** Holds a secret in a closure, where neither JSON.stringify, String nor the inspectors of the runtimes find it. */
export function secretOf(value: string, from: string): Secret {
  const hidden = () => "[secret]";
  return Object.freeze({
    from,
    reveal: () => value,
    toString: hidden,
    toJSON: hidden,
    [Symbol.for("nodejs.util.inspect.custom")]: hidden,
    [Symbol.for("Deno.customInspect")]: hidden,
  });
}
