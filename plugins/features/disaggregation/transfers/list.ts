import type { Transfer } from "../transfer.ts";
import { nixl } from "./nixl.ts";
import { sglang } from "./sglang.ts";
import { sideCar } from "./side-car.ts";

/** Every dialect, by its name in the config. */
export const TRANSFERS: readonly Transfer[] = [nixl, sideCar, sglang];
