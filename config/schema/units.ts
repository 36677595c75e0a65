const DURATIONS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  tb: 1000 ** 4,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
};

/** Milliseconds of a text such as "75s", "1.5h" or "250ms"; undefined for any other text. Without a unit, `bareMs` is the unit. */
export function durationMs(text: string, bareMs: number): number | undefined {
  return measure(text, DURATIONS, bareMs);
}

/** Bytes of a text such as "32MiB", "1.5 GB" or "512"; undefined for any other text. */
export function sizeBytes(text: string): number | undefined {
  return measure(text, SIZES, 1);
}

function measure(text: string, units: Readonly<Record<string, number>>, bare: number): number | undefined {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?|\.\d+) ?([a-z]*)$/i.exec(text) ?? [];
  const factor = unit === "" ? bare : Object.hasOwn(units, unit.toLowerCase()) ? units[unit.toLowerCase()] : undefined;
  if (number === undefined || factor === undefined) return undefined;
  // 0.1 * 3 would otherwise not be a whole number of the smaller unit.
  return Number((Number(number) * factor).toPrecision(15));
}
