/**
 * A target of a rule in one word: with its pool where the rule says one, because the same model may be a target in two pools.
 *
 * @example
 * targetLabel({ name: "llama", pool: "canary" }) === "llama@canary"
 */
export function targetLabel({ name, pool }: { readonly name: string; readonly pool?: string | undefined }): string {
  return pool === undefined ? name : `${name}@${pool}`;
}
