/** On what several processes can listen on one port, as a config error puts it. */
export const PORT_SHARERS = "Linux with Node 22.12 or newer, Deno or Bun; or leave it out and stop one process before the next";

/** Why several processes can't listen on one port (SO_REUSEPORT) on this system and runtime; "" if they can. */
export function obstacleToSharedPorts(
  platform: string = process.platform,
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): string {
  // Elsewhere the option is missing, or does not spread connections over the processes.
  if (platform !== "linux") return `this is ${platform}, where processes can't share a port`;
  if (versions["deno"] !== undefined || versions["bun"] !== undefined) return "";
  const [major = 0, minor = 0] = (versions["node"] ?? "").split(".").map(Number);
  const canShare = major > 22 || (major === 22 && minor >= 12);
  return canShare ? "" : `Node ${versions["node"]} can't share a port`;
}
