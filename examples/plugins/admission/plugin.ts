import { defineAdmission, type Waiting, z } from "signalbox/plugin";

/** What `parameters` may hold in the config; a mistake there is reported with its line. */
const options = z.strictObject({
  patienceMs: z.number().min(0).default(10_000).describe("Who has waited so long goes first, whatever it takes."),
});

export default defineAdmission({
  type: "my-admission",
  summary: "The shortest request goes first, unless another has waited too long.",
  contract: "1.0",
  options,
  create({ patienceMs }) {
    // In the order in which they came.
    const line = new Set<Waiting>();
    return {
      join: (request) => void line.add(request),
      leave: (request) => void line.delete(request),
      // Only one that there is room for; undefined lets all of them wait on.
      take({ nowMs, isFor }) {
        const ready = [...line].filter(isFor);
        const late = ready.find(({ sinceMs }) => nowMs - sinceMs >= patienceMs);
        const next =
          late ?? ready.reduce<Waiting | undefined>((one, other) => (one && one.tokens <= other.tokens ? one : other), undefined);
        if (next !== undefined) line.delete(next);
        return next;
      },
      // The line is full: the largest is sent away, the newcomer among equals.
      least: (newcomer) => [...line].reduce((most, each) => (each.tokens > most.tokens ? each : most), newcomer),
    };
  },
});
