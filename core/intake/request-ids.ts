import type { Random } from "../contract/profile-plugin.ts";

/** Makes ids that are unique in this process, and very probably across processes: "req-", ten random characters, and a count. */
export function requestIds(random: Random): () => string {
  const process = Array.from({ length: 10 }, () => Math.floor(random() * 36).toString(36)).join("");
  let count = 0;
  return () => {
    count += 1;
    return `req-${process}-${count.toString(36)}`;
  };
}
