import type { RequestStarter } from "../../core/host/request-starter.ts";
import type { Head } from "../../core/wire/head.ts";
import { splitTarget } from "../../core/wire/request-target.ts";
import type { HostRule } from "./allowed-hosts.ts";
import type { AdminApi } from "./api/api.ts";
import { ApiExchange } from "./api-exchange.ts";
import { PageExchange, type RenderedPage } from "./page-exchange.ts";
import { findPage, pagePaths } from "./pages.ts";
import { type Page, type PageAnswer, pageRefusal, renderPage } from "./render-page.ts";
import { scalePage } from "./scale-pages.ts";
import type { AdminSite } from "./site.ts";
import { statusOf } from "./status.ts";
import type { Turn } from "./turns.ts";

/**
 * Header lines of every response: it is not cached, sniffed or framed, loads nothing from elsewhere, and other sites can't read
 * it.
 */
const SECURITY_LINES = [
  "cache-control: no-store",
  "x-content-type-options: nosniff",
  "cross-origin-resource-policy: same-origin",
  "referrer-policy: no-referrer",
  "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; frame-ancestors 'none'",
  "",
].join("\r\n");

/** Serves the requests to the admin port: pages, which are read-only, and the API below /api. */
export function adminRequests(site: AdminSite, api: AdminApi, isAllowed: HostRule, turn: Turn): RequestStarter {
  return (head, bodyLength, response, caller) => {
    if (isAllowed(head.get("host")) && isApiPath(head.target))
      return new ApiExchange({ head, bodyLength, response, api, caller, lines: SECURITY_LINES });
    return new PageExchange(response, turn, () => {
      const answer = answerTo(head, site, isAllowed);
      return { ...answer, lines: `${answer.lines}${SECURITY_LINES}` };
    });
  };
}

function isApiPath(target: string): boolean {
  const { path } = splitTarget(target);
  return path === "/api" || path.startsWith("/api/");
}

function answerTo(head: Head, site: AdminSite, isAllowed: HostRule): RenderedPage {
  if (!isAllowed(head.get("host"))) return unknownHost();
  const { path, query } = splitTarget(head.target);
  const { observers } = site.router.config;
  const page = ownPage(site, path) ?? findPage(observers, path);
  if (page === undefined)
    return refusal(404, "unknown_path", `There is no such page; the pages are ${pagePaths(observers).join(", ")}.`);
  const { method } = head;
  return answerOf(
    renderPage(page, { method, query: new URLSearchParams(query), authorization: head.get("authorization") }, site),
  );
}

function answerOf({ status, contentType, text, allow }: PageAnswer): RenderedPage {
  const allowLine = allow === "" ? "" : `allow: ${allow}\r\n`;
  return { status, lines: `content-type: ${contentType}\r\n${allowLine}`, text };
}

function ownPage(site: AdminSite, path: string): Page | undefined {
  if (path === "/status") return { path, contentType: "application/json", render: () => JSON.stringify(statusOf(site)) };
  const file = site.files.get(path);
  if (file === undefined) return scalePage(site, path);
  return { path, contentType: file.contentType, render: () => file.text, isOpen: true };
}

const UNKNOWN_HOST =
  "The admin port does not accept this host name: use an IP address or localhost, or list the name under spec.admin.hosts.";

/** The response to a request whose host name is not accepted. */
export const unknownHost = () => refusal(421, "unknown_host", UNKNOWN_HOST);

const refusal = (status: number, code: string, message: string) => answerOf(pageRefusal(status, code, message));
