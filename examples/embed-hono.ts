import { Hono } from "hono";
import { createRouter } from "signalbox";

/**
 * The router inside a Hono application, with your own paths and middleware, in one process on one port.
 *
 *   Bun    export default await createApp([…])           with idleTimeout: 0, or Bun ends streams that pause
 *   Deno   Deno.serve((await createApp([…])).fetch)
 *   Node   serve(await createApp([…]))                   from @hono/node-server
 */
export async function createApp(urls: readonly string[], apiKey: string, operatorKey: string) {
  const router = await createRouter({ urls });
  await router.whenReady(5_000);

  const app = new Hono();
  app.get("/", (c) => c.text("Hello. The models are below /v1."));
  app.use("/v1/*", async (c, next) => {
    const isKnown = c.req.header("authorization") === `Bearer ${apiKey}`;
    return isKnown ? next() : c.json({ error: { message: "Send your API key.", type: "invalid_request_error" } }, 401);
  });
  // The router reads the request's body, so no handler before this one may read it.
  app.all("/v1/*", (c) => router.fetch(c.req.raw));
  // What operators look at; the router asks for no key here.
  app.use("/ops/*", async (c, next) => {
    const isKnown = c.req.header("authorization") === `Bearer ${operatorKey}`;
    return isKnown ? next() : c.text("Send the operator's key.\n", 401);
  });
  app.get("/ops/metrics", (c) => router.metrics(c.req.raw));
  app.get("/ops/status", (c) => router.status(c.req.raw));
  app.on(["GET", "POST"], "/ops/explain", (c) => router.explain(c.req.raw));
  return { fetch: app.fetch, close: router.close };
}
