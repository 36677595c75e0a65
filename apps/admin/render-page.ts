import type { ObserverPage } from "../../core/contract/observer.ts";
import { thrownText } from "../../core/contract/thrown-text.ts";
import { pageViewOf } from "./health.ts";
import { checkRead } from "./permission.ts";
import { Problem } from "./problem.ts";
import type { ReadSite } from "./site.ts";

/** A page, or why there is none. */
export interface PageAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Value of the Allow header; "" for none. */
  readonly allow: string;
}

export interface Page extends ObserverPage {
  /** It shows nothing of the router, so nobody needs a token for it. */
  readonly isOpen?: boolean;
}

export interface PageQuestion {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
}

/** Renders a page as of now. Never throws: a page that fails is logged and becomes status 500. */
export function renderPage(page: Page, { method, query, authorization }: PageQuestion, site: ReadSite): PageAnswer {
  if (method !== "GET" && method !== "HEAD")
    return pageRefusal(405, "method_not_allowed", "Use GET: pages are read-only.", "GET, HEAD");
  try {
    if (page.isOpen !== true) checkRead(authorization, site.access());
    return { status: 200, contentType: page.contentType, text: page.render(pageViewOf(site), query), allow: "" };
  } catch (thrown) {
    if (thrown instanceof Problem) return pageRefusal(thrown.status, thrown.code, thrown.message);
    site.log.error("A page of the admin port could not be rendered", { path: page.path, cause: thrownText(thrown) });
    return pageRefusal(500, "page_failed", "This page could not be rendered; the router's log has the cause.");
  }
}

export function pageRefusal(status: number, code: string, message: string, allow = ""): PageAnswer {
  return { status, contentType: "application/json", text: JSON.stringify({ error: { code, message } }), allow };
}
