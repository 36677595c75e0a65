import type { Feature } from "../feature.ts";
import { KeepAlives } from "./keep-alive.ts";
import { keepAliveSection } from "./keep-alive-config.ts";

/** Writes an event without meaning into event streams while their replica is silent. */
export const keepAlive: Feature = {
  section: keepAliveSection,
  start({ services }) {
    const streams = new KeepAlives(services.clock);
    return { streams, use: ({ features }) => streams.use(keepAliveSection.of(features)), close: () => streams.close() };
  },
};
