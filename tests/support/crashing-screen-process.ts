import { openScreen } from "../../apps/cli/admin/watch.ts";

/** Draws, then fails in a way that no code catches: `crashing-screen-process.ts throw|reject`. */
const screen = openScreen();
screen?.draw(["drawn"]);
setTimeout(() => {
  if (process.argv.includes("throw")) throw new Error("boom");
  void Promise.reject(new Error("boom"));
}, 200);
setTimeout(() => {}, 60_000);
