import type { ActiveConfig } from "../active-config.ts";
import { errorOf } from "../errors/wire-errors.ts";
import { isCoded } from "../wire/media-type.ts";
import { splitTarget } from "../wire/request-target.ts";
import { bodyReader } from "./body-reader.ts";
import { type DryRunRequest, headOf } from "./dry-run.ts";
import { parsersAt } from "./served-routes.ts";

/**
 * The request of a dry run with a plain body, where its body has a Content-Encoding, and a parser reads it. Rejects with the RouterError
 * that the client would get; for other bodies that can't be taken, `dryRun` throws it.
 */
export async function withPlainBody(asked: DryRunRequest, config: ActiveConfig): Promise<DryRunRequest> {
  const { bodyBytes, bodyDepth } = config.settings.limits;
  try {
    const head = headOf(asked, config);
    const { path } = splitTarget(head.target);
    const parser = parsersAt(path, config)?.get(head.method);
    if (!isCoded(head) || parser === undefined || asked.body.length > bodyBytes) return asked;
    if (bodyReader(parser, head, path, bodyDepth) === undefined) return asked;
    for (const { plugin } of config.slots.decode) {
      const body = await plugin.decodeWhole?.(head, asked.body, bodyBytes);
      if (body !== undefined) return { ...asked, headers: asked.headers.filter(([name]) => !isCoding(name)), body };
    }
    return asked;
  } catch (thrown) {
    throw errorOf(thrown);
  }
}

const isCoding = (name: string) => name.toLowerCase() === "content-encoding";
