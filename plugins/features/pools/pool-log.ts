import type { Log } from "../../../core/contract/log.ts";

/** Each line says of which pool it is. */
export function inPool(pool: string, log: Log): Log {
  return {
    info: (message, fields) => log.info(message, { pool, ...fields }),
    warn: (message, fields) => log.warn(message, { pool, ...fields }),
    error: (message, fields) => log.error(message, { pool, ...fields }),
  };
}
