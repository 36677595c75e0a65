/**
 * Whether a plugin returned a promise where its contract wants a value, as `async` methods do. Then a rejection of it is ignored: the
 * plugin's fault is known already, and a rejection that nobody handles ends a process that embeds the router.
 *
 * @example
 * if (ignoresPromise(returned)) throw new TypeError("filter must not be async");
 */
export function ignoresPromise(returned: unknown): boolean {
  try {
    if (!(returned instanceof Promise)) return false;
    returned.catch(() => {});
    return true;
  } catch {
    // A proxy that lets nobody look.
    return false;
  }
}
