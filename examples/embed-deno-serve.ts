import { createRouter } from "../core/fetch.ts";

/** The router with Deno's own server. Run it with `deno run -A`, and call `close` before the program ends. */
export async function serve(urls: readonly string[], port: number) {
  const router = await createRouter({ urls, print: console.log });
  await router.whenReady(5_000);
  const server = Deno.serve({ hostname: "127.0.0.1", port }, router.fetch);
  return {
    port: server.addr.port,
    async close() {
      // First finish the requests under way, then close the connections to the replicas.
      await server.shutdown();
      router.close();
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
