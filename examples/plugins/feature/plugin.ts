import { defineFeature, RouterError, z } from "signalbox/plugin";

/** What `parameters` may hold in the config; a mistake there is reported with its line. */
const options = z.strictObject({
  mostTokens: z.int().min(1).default(100_000).describe("Longer prompts are refused."),
});

export default defineFeature({
  type: "my-feature",
  summary: "Refuses long prompts, tells clients how long theirs was, and counts both.",
  contract: "1.0",
  options,
  create({ mostTokens }, host) {
    // What `keep` holds outlives a reload of the config.
    const counts = host.keep(1, () => ({ requests: 0, refused: 0 }));
    return {
      admit({ parsed }) {
        if (parsed === undefined || parsed.promptTokens <= mostTokens) return undefined;
        counts.refused += 1;
        throw new RouterError("invalid_value", `The prompt is too long; send at most ${mostTokens} tokens.`);
      },
      lines: ({ parsed }) => (parsed === undefined ? "" : `x-prompt-tokens: ${parsed.promptTokens}\r\n`),
      settled() {
        counts.requests += 1;
      },
      status: (rule) => (rule === undefined ? { ...counts } : {}),
    };
  },
});
