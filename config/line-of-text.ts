import { z } from "../core/contract/options.ts";

/** Text of at least one character, without control characters that would break a header or a log line. */
export const lineOfText = z.string().regex(/^[^\x00-\x1f\x7f]+$/, "text on one line, without control characters");
