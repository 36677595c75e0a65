/** One file of the status page. */
interface PageFile {
  readonly contentType: string;
  readonly text: string;
}

/** The files of the status page, by the path that each is served at. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const SCRIPTS = [
  "charts",
  "config",
  "decisions",
  "dom",
  "explanation",
  "format",
  "operate",
  "overview",
  "page",
  "replica-details",
  "replicas",
  "rollouts",
  "sessions",
  "table",
];

/** Where each file is served, its name in apps/admin/page/, and its type. Nothing else of that folder is served. */
const FILES: readonly (readonly [path: string, name: string, contentType: string])[] = [
  ["/", "page.html", "text/html; charset=utf-8"],
  ["/page/page.css", "page.css", "text/css; charset=utf-8"],
  ...SCRIPTS.map((name) => [`/page/${name}.js`, `${name}.js`, "text/javascript; charset=utf-8"] as const),
];

/** The paths of the status page. */
export const PAGE_PATHS: readonly string[] = FILES.map(([path]) => path);

/** `read` returns the text of a file in apps/admin/page/. */
export function pageFiles(read: (name: string) => string): PageFiles {
  return new Map(FILES.map(([path, name, contentType]) => [path, { contentType, text: read(name) }]));
}
