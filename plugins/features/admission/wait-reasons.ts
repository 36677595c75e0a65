import type { RoomOfModel } from "./pool-room.ts";

// Why a request waits, in the words of the log and of explanations.

export const UNREACHED = "the replica that it was sent to could not be reached";
export const KEPT = "what room is left is kept for higher priorities";
export const REASONS: Readonly<Record<RoomOfModel, string>> = {
  free: "others wait",
  full: "no replica that serves the model has room",
  empty: "no replica is ready",
};
