/** The value without what has a default for its origin; undefined if nothing is left. */
export function withoutDefaults(value: unknown, path: string, origins: Readonly<Record<string, string>>): unknown {
  const origin = origins[path];
  if (origin !== undefined) return origin === "default" ? undefined : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value
      .map((item, index) => withoutDefaults(item, `${path}[${index}]`, origins))
      .filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  const entries = Object.entries(value)
    .map(([key, inner]) => [key, withoutDefaults(inner, path === "" ? key : `${path}.${key}`, origins)] as const)
    .filter(([, inner]) => inner !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
