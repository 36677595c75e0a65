import { z } from "../../core/contract/options.ts";

/** No name in braces stands directly behind another one, because nothing would say where the first one ends. */
const PATTERN = /^\/(?:[^{}\s?#]|\{[A-Za-z_]\w*\}(?!\{))*$/;

/** A path that the config lists for a parser. */
export const routePath = z
  .string()
  .regex(
    PATTERN,
    'a path from its first slash, without a query; {name} stands for a part of one segment, as in "/v1/files/{id}"',
  );

export const routeMethod = z.string().regex(/^[A-Z]+$/, "a method in capitals");
