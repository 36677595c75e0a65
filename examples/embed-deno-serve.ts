import { createRouter } from "signalbox";

/**
 * The router with Deno's own server, and on a second port what operators look at, as the program `signalbox` has it: `signalbox status`,
 * `top`, `tail` and `explain` work with `--admin http://127.0.0.1:9090`. Run it with `deno run -A`, and call `close` before the program
 * ends.
 */
export async function serve(urls: readonly string[], port: number, adminPort: number) {
  const router = await createRouter({ urls, print: console.log });
  await router.whenReady(5_000);
  const server = Deno.serve({ hostname: "127.0.0.1", port }, router.fetch);
  const admin = Deno.serve({ hostname: "127.0.0.1", port: adminPort }, (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/metrics") return router.metrics(request);
    if (pathname === "/status") return router.status(request);
    if (pathname === "/decisions") return router.explain(request);
    return router.admin(request);
  });
  return {
    port: server.addr.port,
    adminPort: admin.addr.port,
    async close() {
      // First finish the requests under way, then close the connections to the replicas.
      await server.shutdown();
      router.close();
      await admin.shutdown();
    },
  };
}

/** The part of Deno that this file uses, for editors that check it with the types of Node. */
declare const Deno: {
  serve(
    options: { readonly hostname: string; readonly port: number },
    handler: (request: Request) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
};
