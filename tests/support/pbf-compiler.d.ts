declare module "pbf/compile" {
  /** The code that reads and writes the messages of a schema, as a module's text. */
  export function compileRaw(proto: unknown): string;
}

declare module "protocol-buffers-schema" {
  const schema: { parse(text: string): unknown };
  export default schema;
}
