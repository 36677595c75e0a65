import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compileRaw } from "pbf/compile";
import schema from "protocol-buffers-schema";

const FOLDER = join(import.meta.dirname ?? ".", "..", "..", "apps", "epp");
const PROTO = join(FOLDER, "ext-proc.proto");
export const PROTO_MODULE = join(FOLDER, "ext-proc.ts");

const TYPES: Readonly<Record<string, string>> = {
  string: "string",
  bytes: "Uint8Array",
  bool: "boolean",
  uint32: "number",
  double: "number",
};

interface ProtoField {
  readonly name: string;
  readonly type: string;
  readonly repeated: boolean;
  readonly oneof: string | null;
  readonly map: { readonly to: string } | null;
}

interface ProtoMessage {
  readonly name: string;
  readonly fields: readonly ProtoField[];
}

/** The module that `npm run proto` writes: the reading and writing code of pbf's compiler, with types. */
export function protoModuleText(): string {
  const proto = schema.parse(readFileSync(PROTO, "utf8")) as { readonly messages: readonly ProtoMessage[] };
  const code = compileRaw(proto)
    .replace(/^\/\/ code generated.*$/m, "")
    .replace(
      /^export function read(\w+)\(pbf, end\)/gm,
      (_, name: string) => `${exported(proto, name)}function read${name}(pbf: PbfReader, end?: number): ${typeName(proto, name)}`,
    )
    .replace(
      /^export function write(\w+)\(obj, pbf\)/gm,
      (_, name: string) => `${exported(proto, name)}function write${name}(obj: ${typeName(proto, name)}, pbf: PbfWriter): void`,
    )
    .trim();
  const types = proto.messages.map(typeText).join("\n");
  return `// @ts-nocheck: made of ext-proc.proto by npm run proto; only what is exported has types.\nimport type { PbfReader, PbfWriter } from "pbf";\n\n${types}\n${code}\n`;
}

function isMessage({ messages }: { readonly messages: readonly ProtoMessage[] }, name: string): boolean {
  return messages.some((message) => message.name === name);
}

/** The entries of maps have code, but no use outside. */
const exported = (proto: { readonly messages: readonly ProtoMessage[] }, name: string) =>
  isMessage(proto, name) ? "export " : "";
const typeName = (proto: { readonly messages: readonly ProtoMessage[] }, name: string) =>
  isMessage(proto, name) ? name : "unknown";

function typeText({ name, fields }: ProtoMessage): string {
  const oneofs = [...new Set(fields.flatMap(({ oneof }) => (oneof === null ? [] : [oneof])))];
  const lines = [
    ...fields.map((field) => `  readonly ${field.name}?: ${fieldType(field)} | undefined;`),
    ...oneofs.map(
      (oneof) =>
        `  /** Which of them came. */\n  readonly ${oneof}?: ${fields
          .filter((field) => field.oneof === oneof)
          .map((field) => `"${field.name}"`)
          .join(" | ")} | undefined;`,
    ),
  ];
  return `export interface ${name} {\n${lines.join("\n")}\n}\n`;
}

function fieldType({ type, repeated, map }: ProtoField): string {
  if (map !== null) return `Readonly<Record<string, ${TYPES[map.to] ?? map.to}>>`;
  const one = TYPES[type] ?? type;
  return repeated ? `readonly ${one}[]` : one;
}
