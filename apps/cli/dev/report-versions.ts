import { useVersions } from "../../../config/plugins/load-plugin.ts";
import { type Note, STAND_INS, type StandIn } from "./versions.ts";

/**
 * Tells the supervisor of this process which versions of plugins it loads, loads those that it has chosen, and ends with it. Returns what
 * is called when a request has passed the plugins of `config`. Does nothing in a process that nobody supervises.
 */
export function reportVersions(): (config: object) => void {
  const { [STAND_INS]: given } = process.env;
  if (given === undefined) return () => {};
  // What plugins start is none of the supervisor's.
  delete process.env[STAND_INS];
  const standIns = JSON.parse(given) as readonly StandIn[];
  const tell = (note: Note) => void process.send?.(note);
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  useVersions((file, { hash: saved, texts }) => {
    const standIn = standIns.find((each) => each.file === file && each.saved === saved);
    tell({ loading: { file, saved, hash: standIn?.hash ?? saved, texts: [...texts] } });
    return standIn?.copy ?? file;
  });
  let served: object | undefined;
  return (config) => {
    if (config !== served) tell({ served: true });
    served = config;
  };
}
