import assert from "node:assert/strict";
import { readJsonBody } from "../../../core/body/json-body.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Parser } from "../../../core/contract/parser.ts";
import type { KeptObject, ParsedBody } from "../../../core/contract/request.ts";
import { idOfDocument } from "../../../core/stream/first-id-tap.ts";
import { type FoundItems, ItemReader } from "../../../plugins/features/conversations/item-reader.ts";
import modelPaths from "../../../plugins/parsers/model-paths.ts";
import responses from "../../../plugins/parsers/responses.ts";
import storedPaths from "../../../plugins/parsers/stored-paths.ts";
import { createPlugin } from "../../support/plugins.ts";
import type { Dice } from "../dice.ts";
import type { Target } from "../fuzz.ts";

type Members = Readonly<Record<string, unknown>>;

const DEPTH = 64;
const CONTINUING = [
  [createPlugin(responses), "/v1/responses"],
  [createPlugin(modelPaths), "/v1/responses/compact"],
] as const;
const STORED = createPlugin(storedPaths);
const ID_KEY = /"(?:i|\\u0069)(?:d|\\u0064)"\s*:/g;

/** Ids in bodies and in responses: whatever JSON.parse says that an id is, the router sees it too, or refuses the body. */
export const ids: Target = {
  name: "ids",
  seeds: [
    '{"model":"m","previous_response_id":"resp_1","input":"a"}',
    '{"conversation":{"object":"conversation","id":"conv_1","metadata":{"id":"conv_2"}},"model":"m"}',
    `{"model":"m", "conversation" : { ${" ".repeat(600)} "\\u0069d" :\n"conv\\u005f1" } }`,
    '{"previous\\u005fresponse_id":["resp_1"],"model":"m","input":[{"type":"item_reference","id":"msg_1"},{"id":"msg_2"}]}',
    '{"model":"m","conversation":"\\ud800","input_file_id":"file_1","input":[{"id":"msg_1","content":"a"},[{"id":"msg_2"}],{"id":null}]}',
    '{"object":"response","a":[{"id":"no"}],"id":"resp_\\u0031\\"","output":[]}',
  ].map((text) => Buffer.from(text)),
  words: [
    ...'{|}|[|]|,|:|"|\\|\\"|\\u0000|\\ud800|\\u0069|\\u0064|null|7|true|{}|[]| |\n|\0|\xef\xbb\xbf|é|"id":|"type":|"a":|"object":"conversation",'.split(
      "|",
    ),
    ...['"conversation":', '"previous_response_id":', '"input_file_id":', '"input":', '"model":"m",', '"item_reference"'],
    ...['"conv_1"', '{"id":"conv_1"}', '["conv_1"]', ',"id":"x"', '"metadata":{"id":"y"},'],
    " ".repeat(700),
  ],
  check(input, dice) {
    const text = input.toString();
    // Engines refuse what is no UTF-8.
    if (!Buffer.from(text).equals(input)) return "no UTF-8";
    const value = membersOf(text);
    if (value === undefined) return "no object";
    const kinds = CONTINUING.map(([parser, path]) => checkContinued(parser, path, input, value));
    const file = read(STORED, "/v1/batches", input);
    if (file !== undefined) assert.deepEqual(file.names, kept("files", value["input_file_id"]), "input_file_id");
    const items = checkItems(input, value["input"], dice);
    checkDocument(input, text, value);
    return `${kinds.join(" ")} ${file?.names?.kind} ${items}`;
  },
};

function checkContinued(parser: Parser, path: string, input: Buffer, value: Members): string {
  const parsed = read(parser, path, input);
  if (parsed === undefined) return "refused";
  const conversation = value["conversation"];
  const wanted = [
    kept("responses", value["previous_response_id"]),
    kept("conversations", isObject(conversation) ? (conversation["id"] ?? 0) : conversation),
  ].filter((each) => each !== undefined);
  assert.deepEqual(
    [parsed.names, parsed.alsoNames].filter((each) => each !== undefined),
    wanted,
    path,
  );
  return wanted.map(({ kind }) => kind).join("+");
}

/** What a body names that the router let through. */
function kept(kind: string, id: unknown): KeptObject | undefined {
  if (id === undefined || id === null) return undefined;
  assert.equal(typeof id, "string", `a ${kind} id that is no string`);
  return { kind, id: id as string };
}

/** Undefined where the body is refused. */
function read(parser: Parser, path: string, input: Buffer): ParsedBody | undefined {
  try {
    return parser.parse(readJsonBody(Uint8Array.from(input), parser, DEPTH), path, "");
  } catch (thrown) {
    if (thrown instanceof RouterError) return undefined;
    throw thrown;
  }
}

function checkItems(input: Buffer, list: unknown, dice: Dice): string {
  const found = Array.isArray(list) ? itemsIn(input, dice) : undefined;
  if (found === undefined) return "none";
  const items = (list as readonly unknown[]).filter(isObject);
  const references = items.filter(({ type }) => type === "item_reference");
  for (const { id } of references) assert.ok(found.references.some((reference) => reference.id === id));
  const others = new Set(items.map(({ id }) => id));
  for (const { id } of found.references) assert.ok(others.has(id));
  return `${found.references.length} of ${found.ids.size}`;
}

function itemsIn(input: Buffer, dice: Dice): FoundItems | undefined {
  try {
    const span = readJsonBody(Uint8Array.from(input), { keys: ["input"] }, DEPTH).span("input")!;
    const reader = new ItemReader(span);
    for (const place of dice.places(input.length, 8)) reader.push(input, place);
    reader.finish(input, input.length);
    return reader;
  } catch (thrown) {
    if (thrown instanceof RouterError) return undefined;
    throw thrown;
  }
}

/** As a response that a replica made: of a key that comes twice the first one counts, because the client may use it at once. */
function checkDocument(input: Buffer, text: string, { id }: Members): void {
  const found = idOfDocument(input, 0, input.length);
  if ((text.match(ID_KEY)?.length ?? 0) > 1 || input.length > 4_096) return;
  assert.equal(found, typeof id === "string" && id.length <= 256 ? id : "", "of a response");
}

function membersOf(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
