import type { Named } from "../../core/active-config.ts";
import type { Observer, ObserverPage } from "../../core/contract/observer.ts";
import { PAGE_PATHS } from "./page-files.ts";

/** Paths that the admin port itself serves. */
const OWN_PATHS: readonly string[] = [...PAGE_PATHS, "/status", "/scale"];

const PATH = /^\/[A-Za-z0-9._~/-]*$/;
const STREAM_PATH = /^(\/[A-Za-z0-9._~-]+)+$/;

type Observers = readonly Named<Observer>[];

/** Throws an Error if two pages or two streams have the same path, or a path is invalid. */
export function checkPages(observers: Observers): void {
  checkPaths("page", PATH, "/name", observers, ({ pages = [] }) => pages);
  checkPaths("stream", STREAM_PATH, "/name/stream", observers, ({ streams = [] }) => streams);
  for (const { name, plugin } of observers) {
    for (const { path } of plugin.pages ?? []) {
      const what = `The observer "${name}" has the page ${path}`;
      if (OWN_PATHS.includes(path)) throw new Error(`${what}, which the admin port itself has: give it another path`);
      if (path === "/api" || path.startsWith("/api/"))
        throw new Error(`${what}, but paths below /api are the admin API's: give it another path`);
    }
  }
}

function checkPaths(
  kind: "page" | "stream",
  pattern: RegExp,
  form: string,
  observers: Observers,
  of: (plugin: Observer) => readonly { readonly path: string }[],
): void {
  const owners = new Map<string, string>();
  for (const { name, plugin } of observers) {
    for (const { path } of of(plugin)) {
      const owner = owners.get(path);
      if (owner !== undefined)
        throw new Error(
          `The observers "${owner}" and "${name}" both have the ${kind} ${path}: take one of them out of the config`,
        );
      if (!pattern.test(path))
        throw new Error(`The observer "${name}" has a ${kind} whose path is not of the form ${form}: correct it`);
      owners.set(path, name);
    }
  }
}

export function findPage(observers: Observers, path: string): ObserverPage | undefined {
  for (const { plugin } of observers) {
    const page = plugin.pages?.find((each) => each.path === path);
    if (page !== undefined) return page;
  }
  return undefined;
}

/** The paths of all pages, for messages. */
export function pagePaths(observers: Observers): readonly string[] {
  return ["/", "/status", "/scale", ...observers.flatMap(({ plugin }) => plugin.pages?.map(({ path }) => path) ?? [])];
}
