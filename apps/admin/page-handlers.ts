import type { AdminApi } from "./api/api.ts";
import { findPage, pagePaths } from "./pages.ts";
import { type Page, type PageAnswer, pageRefusal, renderPage } from "./render-page.ts";
import type { ReadSite, StatusSite } from "./site.ts";
import { statusOf } from "./status.ts";

/** What the admin port shows, as Web-standard handlers, which a host mounts at paths of its own. None of them rejects. */
export function pageHandlers(site: ReadSite & StatusSite, api: AdminApi) {
  const statusPage: Page = {
    path: "/status",
    contentType: "application/json",
    render: () => JSON.stringify(statusOf(site)),
  };
  /** The observer that has the page is looked up anew: the config may have changed. */
  const observersPage = (path: string, request: Request) =>
    respond(findPage(site.router.config.observers, path), path, request, site);
  return {
    metrics: async (request: Request) => observersPage("/metrics", request),
    status: async (request: Request) => respond(statusPage, "/status", request, site),
    explain: async (request: Request) => {
      if (request.method !== "POST") return observersPage("/decisions", request);
      return api(new Request(new URL("/api/v1/explain", request.url), request), "");
    },
  };
}

function respond(page: Page | undefined, path: string, request: Request, site: ReadSite): Response {
  const { method, headers: sent } = request;
  const query = new URL(request.url).searchParams;
  const question = { method, query, authorization: sent.get("authorization") ?? undefined };
  const answer = page === undefined ? noPage(path, site) : renderPage(page, question, site);
  const { status, contentType, text, allow } = answer;
  const headers = {
    "content-type": contentType,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(allow !== "" && { allow }),
  };
  return new Response(request.method === "HEAD" ? null : text, { status, headers });
}

function noPage(path: string, { router }: ReadSite): PageAnswer {
  const paths = pagePaths(router.config.observers).join(", ");
  return pageRefusal(404, "unknown_path", `No plugin of the config has the page ${path}; the pages are ${paths}.`);
}
