import type { BodyView } from "../../core/contract/body-view.ts";
import { RouterError } from "../../core/contract/errors.ts";
import type { BodyReader, Parser } from "../../core/contract/parser.ts";
import { pathPlaces } from "../../core/contract/path-pattern.ts";
import { defineParser } from "../../core/contract/plugin.ts";
import { NO_PARTS } from "../../core/contract/prompt-part.ts";
import type { KeptObject, ParsedBody } from "../../core/contract/request.ts";
import { idIn } from "./named-object.ts";
import { UNREAD_BODY } from "./unread-body.ts";

/** A path under which replicas make something that they keep, or give it out. */
interface StoredPath {
  readonly method: string;
  readonly path: string;
  readonly kind: string;
  /** Its response names what the replica keeps. */
  readonly makes: boolean;
}

const CANCEL = "/cancel";

const PATHS: readonly StoredPath[] = [
  ...below("responses", ["GET ", "DELETE ", `POST ${CANCEL}`, "GET /input_items"]),
  ...made("files"),
  ...below("files", ["GET ", "DELETE ", "GET /content"]),
  ...made("batches"),
  // Only a batch that has come to its end names the files that it wrote.
  ...below("batches", ["GET ", `POST ${CANCEL}`], true),
  ...made("conversations"),
  ...below("conversations", [
    "GET ",
    "POST ",
    "DELETE ",
    "GET /items",
    "POST /items",
    "GET /items/{item}",
    "DELETE /items/{item}",
  ]),
];

/** The input of a batch is a file that one replica keeps. */
const INPUT_FILE = "input_file_id";
/** What servers split paths at, cut them at, or drop from them; and what no header line may have. */
const ACROSS_SEGMENTS = /[/\\?#;\x00-\x1f\x7f]|^\.{1,2}$/;
const UNREAD: BodyReader = { push() {}, finish() {}, parts: NO_PARTS, spanOf: () => undefined };

/** Says what is asked for by its id; the feature `stored` finds the replica that has it. */
export default defineParser({
  type: "stored-paths",
  summary: "Reads which stored response, file, batch or conversation a path names, such as /v1/responses/{id}.",
  runsByDefault: true,
  create: (): Parser => ({
    routes: PATHS.map(({ method, path }) => ({ method, path })),
    dialect: "openai",
    keys: [INPUT_FILE],
    reader: (path) => (path === "/v1/batches" ? undefined : UNREAD),
    parse: (body, path) => parsedAt(body, path),
  }),
});

function parsedAt(body: BodyView, path: string): ParsedBody {
  for (const { path: pattern, kind, makes } of PATHS) {
    const [id] = pathPlaces(pattern, path)?.map((place) => idInPath(path.slice(...place))) ?? [];
    if (id !== undefined) return lookup({ kind, id }, makes);
    if (pattern === path) return making(body, kind);
  }
  return making(body, "");
}

/**
 * The id as engines read it. Throws RouterError for one that they may take for more than a segment of the path: it would name another
 * object than the one that is looked up here.
 */
function idInPath(segment: string): string {
  let id = segment;
  try {
    if (segment.includes("%")) id = decodeURIComponent(segment);
  } catch {
    id = ""; // Another coding than UTF-8, or none.
  }
  if (id === "" || ACROSS_SEGMENTS.test(id))
    throw new RouterError("bad_request", "The id in the path has characters that no id has; send it as the response had it.");
  return id;
}

/** It may be a deletion, which a second delivery would find done. */
function lookup(names: KeptObject, makes: boolean): ParsedBody {
  return {
    ...UNREAD_BODY,
    isFollowUp: true,
    isLookup: true,
    names,
    makes: makes ? names.kind : undefined,
  };
}

function making(body: BodyView, kind: string): ParsedBody {
  const file = kind === "batches" ? idIn(body, INPUT_FILE, "the id of a file") : undefined;
  const names = file === undefined ? undefined : { kind: "files", id: file };
  return { ...UNREAD_BODY, isFollowUp: names !== undefined, names, makes: kind };
}

function made(kind: string): readonly StoredPath[] {
  return [{ method: "POST", path: `/v1/${kind}`, kind, makes: true }];
}

/** Each of `asked` is a method and what stands behind the id. */
function below(kind: string, asked: readonly string[], makes = false): readonly StoredPath[] {
  return asked.map((each) => {
    const [method = "", rest = ""] = each.split(" ");
    return { method, path: `/v1/${kind}/{id}${rest}`, kind, makes };
  });
}
