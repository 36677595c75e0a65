import { defineObserver, printable, z } from "signalbox/plugin";

/** What `parameters` may hold in the config; a mistake there is reported with its line. */
const options = z.strictObject({
  path: z.string().startsWith("/").default("/models-asked").describe("The page on the admin port."),
});

export default defineObserver({
  type: "my-observer",
  summary: "Counts the requests for each model, and shows them on a page of the admin port.",
  contract: "1.0",
  options,
  create({ path }, host) {
    // What `keep` holds outlives a reload of the config.
    const counts = host.keep(1, () => new Map<string, number>());
    return {
      finished({ request }) {
        if (request !== undefined) counts.set(request.model, (counts.get(request.model) ?? 0) + 1);
      },
      pages: [
        {
          path,
          contentType: "text/plain",
          // Names come from clients and may hold anything.
          render: () => [...counts].map(([model, count]) => `${printable(model)} ${count}\n`).join(""),
        },
      ],
    };
  },
});
