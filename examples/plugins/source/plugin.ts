import { defineSource, z } from "signalbox/plugin";

/** What `parameters` may hold in the config; a mistake there is reported with its line. */
const options = z.strictObject({
  path: z.string().startsWith("/").default("/load").describe("Where replicas tell their load."),
  periodMs: z.int().min(100).default(1000).describe("How often it is asked for."),
});

/** What a replica responds with; a plugin checks what comes from outside. */
const document = z.object({ running: z.number().min(0), queued: z.number().min(0), memory: z.number().min(0).max(1) }).partial();

export default defineSource({
  type: "my-source",
  summary: "Reads the load of replicas from a JSON page of theirs.",
  contract: "1.0",
  options,
  create: ({ path, periodMs }) => ({
    path,
    periodMs,
    read(body) {
      const { running, queued, memory } = document.parse(JSON.parse(body));
      // What is left out is unknown.
      return {
        ...(running !== undefined && { running }),
        ...(queued !== undefined && { waiting: queued }),
        ...(memory !== undefined && { kvUsage: memory }),
      };
    },
  }),
});
