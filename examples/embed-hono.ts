import { Hono } from "hono";
import { createRouter } from "../core/fetch.ts";

/**
 * The router inside a Hono application: your own paths and middleware beside it, one process, one port.
 *
 *   Bun    export default await createApp([…])           with idleTimeout: 0, or Bun ends quiet streams
 *   Deno   Deno.serve((await createApp([…])).fetch)
 *   Node   serve(await createApp([…]))                   from @hono/node-server
 */
export async function createApp(urls: readonly string[], apiKey: string) {
  const router = await createRouter({ urls });
  await router.whenReady(5_000);

  const app = new Hono();
  app.get("/", (c) => c.text("Hello. The models are below /v1."));
  app.use("/v1/*", async (c, next) => {
    const isKnown = c.req.header("authorization") === `Bearer ${apiKey}`;
    return isKnown ? next() : c.json({ error: { message: "Send your API key.", type: "invalid_request_error" } }, 401);
  });
  // The request goes on as it came: a handler before this one must not read its body.
  app.all("/v1/*", (c) => router.fetch(c.req.raw));
  return { fetch: app.fetch, close: router.close };
}
