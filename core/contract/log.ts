/**
 * Messages for the operator. They must not contain a prompt, a key or a body.
 *
 * @example
 * host.log.warn("The predictor does not respond", { status: 503 });
 */
export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean>>;

/** For embedders and tests that want no output. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };
