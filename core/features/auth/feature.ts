import type { Feature } from "../feature.ts";
import { KeyAccess } from "./access.ts";
import { authSection } from "./auth-config.ts";

/** Knows clients by their keys: who may ask, for which models, and how much. */
export const auth: Feature = {
  section: authSection,
  start: ({ services }) => ({ access: new KeyAccess(services.clock) }),
};
