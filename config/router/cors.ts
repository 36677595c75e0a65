import { z } from "../../core/contract/options.ts";
import { CORS_MAX_AGE_S } from "../../core/settings/tables.ts";
import type { CorsSettings } from "../../core/settings.ts";
import { setting } from "../schema/section.ts";
import { headerName } from "../schema/values.ts";

const origin = z.string().refine(isOrigin, 'an origin as browsers write it, such as "https://chat.example", or "*" for all');

/** Scheme, host and port alone, in lower case, without a default port. Applications have schemes of their own: tauri://localhost. */
function isOrigin(text: string): boolean {
  if (text === "*") return true;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@"',]+$/.test(text) || text !== text.toLowerCase()) return false;
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** `spec.listen.cors`. */
export const corsSchema = z
  .strictObject({
    origins: z
      .array(origin)
      .min(1, "at least one origin")
      .refine((origins) => origins.length === 1 || !origins.includes("*"), '"*" alone, or origins without it')
      .describe('Pages that may read responses: origins such as https://chat.example, or "*" for all.'),
    headers: z.array(headerName).describe("Request headers that pages may send. Default: all that they ask for.").optional(),
    maxAgeS: setting(CORS_MAX_AGE_S),
  })
  .transform(({ origins, headers, maxAgeS }): CorsSettings => {
    return { origins: origins.includes("*") ? undefined : new Set(origins), headers, maxAgeS };
  });
