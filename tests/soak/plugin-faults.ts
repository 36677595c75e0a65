/**
 * The plugins here break their contracts at the requests that ask for it: an id "soak-17-scorer-throws" names the fault. So it is
 * known of each request what must become of it.
 */
export function faultOf(requestId: string): string {
  return requestId.replace(/^soak-\d+-/, "");
}

export function fail(): never {
  throw new Error("on purpose");
}

/** What an `async` method returns that fails: a rejected promise where the contract wants a value. */
export async function reject(): Promise<never> {
  throw new Error("on purpose");
}

/** Throws a value that can't be turned into text. */
export function throwUnprintable(): never {
  throw Object.create(null);
}

/** Keeps the processor busy; many times what `limits.pluginMs` allows. */
export function beSlow(): void {
  const endMs = performance.now() + 20;
  while (performance.now() < endMs);
}
