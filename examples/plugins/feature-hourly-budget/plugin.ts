import { defineFeature, type Outcome, RouterError, z } from "signalbox/plugin";

const options = z.strictObject({
  tokensPerHour: z.int().min(1).default(1_000_000).describe("Prompt and output of each client together, in an hour."),
});

const HOUR_MS = 3_600_000;
/** More clients than these are not told apart: the ones that came first in the hour are forgotten. */
const MOST_CLIENTS = 10_000;

/** What clients used in one hour of the clock. */
interface Hour {
  startedMs: number;
  readonly used: Map<string, number>;
}

export default defineFeature({
  type: "hourly-budget",
  summary: "Refuses a client that has used its tokens of this hour.",
  contract: "1.0",
  options,
  create({ tokensPerHour }, host) {
    const hour = host.keep<Hour>(1, () => ({ startedMs: 0, used: new Map() }));
    const usedNow = () => {
      const startedMs = Math.floor(host.clock.wall() / HOUR_MS) * HOUR_MS;
      if (startedMs !== hour.startedMs) hour.used.clear();
      hour.startedMs = startedMs;
      return hour.used;
    };
    return {
      admit({ ticket }) {
        const used = usedNow().get(nameOf(ticket)) ?? 0;
        if (used < tokensPerHour) return undefined;
        const retryAfterS = Math.ceil((hour.startedMs + HOUR_MS - host.clock.wall()) / 1_000);
        const message = `This client has used the ${tokensPerHour} tokens of this hour; try again when the next one begins.`;
        throw new RouterError("rate_limit_exceeded", message, { retryAfterS });
      },
      settled(outcome) {
        const tokens = tokensOf(outcome);
        if (tokens === 0) return;
        const used = usedNow();
        const name = nameOf(outcome);
        used.set(name, (used.get(name) ?? 0) + tokens);
        const [first] = used.keys();
        if (used.size > MOST_CLIENTS && first !== undefined) used.delete(first);
      },
      status: (rule) => (rule === undefined ? { clients: usedNow().size, tokensPerHour } : {}),
    };
  },
});

/** Clients without a key have one budget together. */
const nameOf = ({ principal }: Pick<Outcome, "principal">) => principal?.name ?? "";

/** As the replica reports them, or as they were estimated; none for a request that no replica served. */
function tokensOf({ status, request, usage, outputTokens, times }: Outcome): number {
  if (request === undefined || Number.isNaN(times.dispatchedMs) || status >= 400) return 0;
  const prompt = usage?.promptTokens ?? Number.NaN;
  return (Number.isNaN(prompt) ? request.promptTokens : prompt) + (Number.isNaN(outputTokens) ? 0 : outputTokens);
}
