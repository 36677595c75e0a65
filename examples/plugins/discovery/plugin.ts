import { defineDiscovery, thrownMessage, z } from "signalbox/plugin";

/** What `parameters` may hold in the config; a mistake there is reported with its line. */
const options = z.strictObject({
  url: z.string().describe("A page with the replicas, as JSON: a list of names and addresses."),
  everyMs: z.int().min(100).default(5000).describe("How often it is asked for."),
});

/** What the page responds with; a plugin checks what comes from outside. */
const inventory = z.array(z.object({ name: z.string(), url: z.string() }));

export default defineDiscovery({
  type: "my-discovery",
  summary: "Finds replicas on a page of an inventory.",
  contract: "1.0",
  options,
  create: ({ url, everyMs }, host) => ({
    start(found) {
      const look = async () => {
        try {
          const response = await fetch(url, { signal: host.signal });
          // The whole list: replicas that are in it no more finish what they have, and get nothing new.
          found(inventory.parse(await response.json()).map((replica) => ({ ...replica, labels: {} })));
        } catch (thrown) {
          // Without an answer the last list stands.
          if (!host.signal.aborted) host.log.warn("The inventory can't be read", { cause: thrownMessage(thrown) });
        }
        if (!host.signal.aborted) host.clock.after(everyMs, look);
      };
      void look();
    },
  }),
});
