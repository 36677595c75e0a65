import { basename, isAbsolute, relative } from "node:path";
import type { CommandSyntax } from "../../../config/command.ts";
import { ADMIN_VARIABLE, DEFAULT_ADMIN_URL } from "./command.ts";

/** What says how a process was started. */
export interface Caller {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** The file that begins the program in a checkout. */
const SOURCE_FILE = "signalbox.mjs";
/** Scripts of this project's package.json that run that file. */
const OWN_SCRIPTS: readonly (string | undefined)[] = ["signalbox", "start"];
/** How a package manager runs the program of a package that is installed. */
const RUNNERS: Readonly<Record<string, string>> = {
  npm: "npx signalbox",
  bun: "bunx signalbox",
  pnpm: "pnpm exec signalbox",
  yarn: "yarn signalbox",
};

/** The words that call this program as it was called now, in the same folder. */
export function programName({ argv, env, versions, cwd }: Caller): string {
  const path = argv[1] ?? "";
  const [manager = ""] = (env["npm_config_user_agent"] ?? "").split("/");
  const script = env["npm_lifecycle_event"];
  if (script === "npx" || script === "bunx") return `${script} signalbox`;
  if (basename(path) === SOURCE_FILE) {
    if (OWN_SCRIPTS.includes(script)) return `${manager} run signalbox${manager === "npm" ? " --" : ""}`;
    // `deno task` names no script; it tells where it was called.
    if (manager === "deno" && env["INIT_CWD"] !== undefined) return "deno task signalbox";
    const runtime = versions["deno"] !== undefined ? "deno run -A" : versions["bun"] !== undefined ? "bun" : "node";
    return `${runtime} ${shownPath(path, cwd)}`;
  }
  if (manager === "deno" && basename(path) === "bin.mjs") return "deno run -A npm:signalbox";
  // A script of somebody's own package.json finds the program where its reader's shell does not.
  return (script !== undefined && path.includes("node_modules") && RUNNERS[manager]) || "signalbox";
}

function shownPath(path: string, cwd: string): string {
  const near = isAbsolute(path) ? relative(cwd, path) : path;
  const shown = near.startsWith("..") ? path : near;
  return /[^\w./-]/.test(shown) ? `'${shown}'` : shown;
}

/**
 * Returns what writes the commands in a text as this program was called. Those that ask a router get the --admin of the command line
 * `argv`, where it names another port than they would ask by themselves.
 */
export function asCalledBy(
  caller: Caller,
  commands: readonly CommandSyntax[],
  argv: readonly string[],
): (text: string) => string {
  const name = programName(caller);
  const admin = adminOf(argv);
  const isOther = admin !== undefined && admin !== (caller.env[ADMIN_VARIABLE] ?? DEFAULT_ADMIN_URL);
  const asking = new Set(isOther ? commands.filter(asksRouter).map((each) => each.name) : []);
  if (name === "signalbox" && asking.size === 0) return (text) => text;
  const names = commands.map((each) => each.name).join("|");
  // What is called so in a path, a name or a longer word is no command.
  const called = new RegExp(`(?<![\\w./@-])signalbox (${names}|COMMAND|--help)(?![\\w-])`, "g");
  return (text) => text.replace(called, (_, word: string) => `${name} ${word}${asking.has(word) ? ` --admin ${admin}` : ""}`);
}

const asksRouter = ({ switches }: CommandSyntax) => switches.some(({ name }) => name === "admin");

/** The last --admin of a command line, which may be invalid otherwise. */
function adminOf(argv: readonly string[]): string | undefined {
  const end = argv.indexOf("--");
  const given = (end < 0 ? argv : argv.slice(0, end)).flatMap((word, index, words) => {
    if (word.startsWith("--admin=")) return [word.slice("--admin=".length)];
    return word === "--admin" ? (words[index + 1] ?? []) : [];
  });
  return given.at(-1);
}
