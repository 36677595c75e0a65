/** A plugin whose faults come where no code of the router can catch them; each request says which one by its model. */
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";

const unprintable = {
  toString() {
    throw new Error("no text either");
  },
};

const FAULTS: Readonly<Record<string, () => unknown>> = {
  rejects: () => Promise.reject(new Error("stray: rejected")),
  timer: () => void setTimeout(() => fail("stray: in a timer"), 0),
  microtask: () => queueMicrotask(() => fail("stray: in a microtask")),
  unprintable: () => Promise.reject(unprintable),
  nothing: () => Promise.reject(undefined),
};

function fail(message: string): never {
  throw new Error(message);
}

export default defineScorer({
  type: "stray",
  summary: "Breaks its contract where nobody looks",
  options: z.strictObject({}),
  create: () => ({
    score: ({ model }) => {
      FAULTS[model]?.();
      return null;
    },
  }),
});
