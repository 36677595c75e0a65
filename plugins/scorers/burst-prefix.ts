import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { BurstWindow } from "./burst-window.ts";

const options = z.strictObject({
  windowMs: z.int().min(1).max(60_000).default(100),
  /** Requests with one prompt that a replica gets in a window before the next replica does; -1: all of them. */
  maxPerReplica: z
    .int()
    .min(-1)
    .max(1_000_000)
    .refine((count) => count !== 0, "-1 for all, or at least 1")
    .default(-1),
  /** Leading tokens that different prompts must share to be put together too; 0: only equal prompts are. */
  minSharedTokens: z.int().min(0).max(10_000_000).default(0),
});

/**
 * score = 1 for the one replica where the prompt's group belongs, 0 for the others; no opinion on the first of a group, whose place is
 * the other scorers' choice. A group are the requests of one window whose prompts are equal up to the last whole block of the prefix
 * index. It fills one replica, up to `maxPerReplica`, then the next that the window has loaded least. A prompt that only shares its
 * beginning joins the replica that has most such prompts, while that has less than its share of the window.
 */
export default defineScorer({
  type: "burst-prefix",
  summary: "Puts requests that come together with the same prompt on the same replica, before any has it cached.",
  options,
  create({ maxPerReplica, ...written }, host) {
    host.usePrefixIndex({});
    const settings = { ...written, maxPerReplica: maxPerReplica === -1 ? Number.POSITIVE_INFINITY : maxPerReplica };
    const window = host.keep(1, () => new BurstWindow());
    return {
      score({ prefix }, candidates, load) {
        if (prefix.blocks === 0 || prefix.hashes === undefined) return null;
        const place = window.placeFor(prefix, candidates, load, settings);
        return place === undefined ? null : candidates.map((endpoint) => (endpoint === place ? 1 : 0));
      },
      chosen({ prefix }, endpoint, { nowMs }) {
        if (prefix.blocks > 0 && prefix.hashes !== undefined) window.note(prefix, endpoint, nowMs, settings);
      },
    };
  },
});
