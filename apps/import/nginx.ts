import { durationMs, sizeBytes } from "../../config/schema/units.ts";
import type { Draft } from "./draft.ts";
import { changed, leftOut, noMeaning, notUnderstood, type Taken } from "./finding.ts";
import { type Directive, directivesIn } from "./nginx-text.ts";
import type { Source } from "./source.ts";
import { DEFAULT_PROFILE, takeSessions } from "./taking.ts";

type TakeDirective = (directive: Directive, draft: Draft, where: Where) => Taken;

/** What is known of the whole file while its directives are read. */
interface Where {
  /** Names of upstreams that are reached over TLS, by `proxy_pass https://NAME`. */
  readonly tls: ReadonlySet<string>;
  readonly upstream: string;
  readonly isOne: boolean;
}

const HEADERS = noMeaning("requests pass with their headers; x-forwarded-for is spec.forwardedFor");
const ALWAYS = noMeaning("the router does this by itself");
const PROCESS = noMeaning("how nginx runs is its own matter");
const TLS_HERE = leftOut("write listen: { tls: { certFile: …, keyFile: … } } (docs/tls.md)");
const TLS_THERE = leftOut("write pool: { tls: { caFile: …, certFile: …, keyFile: …, serverName: … } } (docs/tls.md)");
const SITE = leftOut("files, redirects and rules of a web server are no matter of this router: keep nginx in front for them");
const HASH = changed(`${DEFAULT_PROFILE}, so a conversation stays where its beginning is cached; nothing else binds a client`);

/** Options of a server, and what is here instead. */
const SERVER_OPTIONS: readonly (readonly [RegExp, string])[] = [
  [/^weight=\d+$/, "speeds are measured here, so no weight is needed"],
  [/^backup$/, "every replica of the pool gets requests, a backup too"],
  [/^(max_fails|fail_timeout)=/, "spec.ejection decides when a replica that fails is out, and for how long"],
  [/^max_conns=\d+$/, "how much a replica takes is in spec.admission (docs/admission.md)"],
  [/^slow_start=/, "a replica that returns gets few requests at first"],
  [/^(resolve|service=.*)$/, "a name's addresses are looked up for each connection; the plugin dns makes a replica of each"],
  [/^route=/, "session-affinity-filter binds a client by a token of the router's"],
  [/^drain$/, "a replica is taken out with signalbox drain"],
];

const takeServer: TakeDirective = ({ words }, draft, { tls, upstream, isOne }) => {
  const [address = "", ...options] = words;
  if (address.startsWith("unix:")) return ["left out", "replicas are reached over TCP"];
  if (options.includes("down")) return ["left out", "it is down: a replica is taken out with signalbox drain"];
  const url = `${tls.has(upstream) ? "https" : "http"}://${address}`;
  const [effect, why] = draft.addEndpoint(url, isOne ? {} : { labels: { upstream } });
  const reasons = new Set(options.map((option) => SERVER_OPTIONS.find(([known]) => known.test(option))?.[1]));
  if (reasons.has(undefined)) {
    const odd = options.find((option) => !SERVER_OPTIONS.some(([known]) => known.test(option)))!;
    return notUnderstood(`${why}; its option ${odd.slice(0, 40)}`);
  }
  return effect !== "taken over" || reasons.size === 0 ? [effect, why] : ["changed", [why, ...reasons].join("; ")];
};

/** Milliseconds or bytes of a setting of the config, from nginx's text. */
function limit(path: string, read: (text: string) => number | undefined, most: number, why?: string): TakeDirective {
  return ({ name, words }, draft) => {
    const value = read(words[0] ?? "");
    if (value === undefined || value > most) return notUnderstood(`spec.${path} can't have this value`);
    if (value <= 0) return ["changed", `there is no value for "no limit" here: spec.${path} has its default`];
    draft.set(path, value, name);
    return why === undefined ? ["taken over", `spec.${path}`] : ["changed", `spec.${path}: ${why}`];
  };
}

const LONGEST_MS = 2 ** 31 - 1;
const time = (text: string) => durationMs(text, 1000);
const size = (text: string) => sizeBytes(/^\d+$/.test(text) ? text : text.replace(/^(\d+)([kmg])$/i, "$1$2iB"));

const takeListen: TakeDirective = ({ words }, draft) => {
  const [address = "", ...options] = words;
  const [, host, port] = /^(?:(\[[^\]]+\]|[^:]+):)?(\d{1,5})$/.exec(address) ?? [];
  if (port === undefined || Number(port) > 65_535)
    return address.startsWith("unix:") ? ["left out", "the router listens on TCP"] : notUnderstood("a port is wanted");
  if (draft.origins.has("spec.listen.port")) return ["left out", "the router listens on one port; this is a further one"];
  draft.set("listen.host", host === undefined || host === "*" ? "0.0.0.0" : host.replace(/^\[|\]$/g, ""), "listen");
  draft.set("listen.port", Number(port), "listen");
  const odd = options.find((option) => !LISTEN_OPTIONS.test(option));
  if (odd !== undefined) return notUnderstood(`spec.listen; its option ${odd.slice(0, 40)}`);
  if (options.includes("proxy_protocol")) return ["left out", "spec.listen, without the PROXY protocol, which is not read here"];
  return options.includes("ssl")
    ? ["left out", "spec.listen, without TLS: write listen: { tls: { certFile: …, keyFile: … } } (docs/tls.md)"]
    : ["taken over", "spec.listen"];
};

/** Options of `listen` that are about sockets, and the two that are told. */
const LISTEN_OPTIONS =
  /^(ssl|proxy_protocol|default_server|default|http2|bind|deferred|reuseport|(backlog|rcvbuf|sndbuf|fastopen|setfib|accept_filter|ipv6only|so_keepalive)=.*)$/;

const takePass: TakeDirective = ({ words }, draft, { isOne }) => {
  const [target = ""] = words;
  if (target.includes("$")) return notUnderstood("it has a variable in it");
  const [, host = "", path = ""] = /^https?:\/\/([^/]+)(.*)$/.exec(target) ?? [];
  if (host === "") return notUnderstood("an address is wanted");
  if (path !== "" && path !== "/") return ["left out", "paths pass as they are"];
  const isUpstream = !/[.:]/.test(host) && host !== "localhost";
  if (!isUpstream) return draft.addEndpoint(target);
  return isOne
    ? ["taken over", "the pool"]
    : ["changed", "all upstreams are one pool, and the model decides; endpoints have the label upstream"];
};

/** Directives, by name. */
const DIRECTIVES: Readonly<Record<string, TakeDirective>> = {
  listen: takeListen,
  proxy_pass: takePass,
  client_max_body_size: limit("limits.bodyBytes", size, 1024 ** 3),
  proxy_connect_timeout: limit("limits.connectTimeoutMs", time, LONGEST_MS),
  proxy_read_timeout: limit(
    "limits.streamIdleTimeoutMs",
    time,
    LONGEST_MS,
    "the longest silence inside a response; until it begins it is limits.responseTimeoutMs",
  ),
  send_timeout: limit("limits.writeTimeoutMs", time, LONGEST_MS),
  client_header_timeout: limit("limits.headTimeoutMs", time, LONGEST_MS),
  client_body_timeout: limit("limits.bodyTimeoutMs", time, LONGEST_MS, "for the whole body"),
  keepalive_timeout: limit("limits.idleTimeoutMs", time, LONGEST_MS),
  proxy_next_upstream_tries: leftOut("write limits.retries, which is one less"),
  ...all("least_conn", (directive, draft) => {
    draft.setProfile(["active-request", "max-score"], directive.name);
    return ["taken over", "spec.profiles"];
  }),
  ...all("random", ({ name, words }, draft) => {
    draft.setProfile(words.includes("two") ? ["active-request", "power-of-two"] : ["random"], name);
    return ["taken over", "spec.profiles"];
  }),
  ...all("ip_hash hash", HASH),
  ...all("sticky sticky_cookie_insert", ({ name, words, line }, draft) =>
    takeSessions({ name, line, value: words[0], words, lineAt: () => line }, draft),
  ),
  ...all("least_time", changed(DEFAULT_PROFILE)),
  ...all(
    "zone keepalive keepalive_requests keepalive_time max_fails state ntlm queue resolver resolver_timeout check health_check match",
    ALWAYS,
  ),
  ...all(
    "proxy_http_version proxy_buffering proxy_request_buffering proxy_cache proxy_ignore_client_abort proxy_socket_keepalive proxy_next_upstream proxy_next_upstream_timeout proxy_send_timeout proxy_buffers proxy_buffer_size proxy_busy_buffers_size proxy_max_temp_file_size chunked_transfer_encoding tcp_nodelay tcp_nopush sendfile postpone_output client_body_buffer_size large_client_header_buffers proxy_intercept_errors underscores_in_headers ignore_invalid_headers proxy_force_ranges lingering_close reset_timedout_connection",
    ALWAYS,
  ),
  ...all(
    "proxy_set_header proxy_pass_request_headers proxy_pass_header proxy_hide_header proxy_pass_request_body proxy_redirect proxy_headers_hash_max_size proxy_headers_hash_bucket_size real_ip_header set_real_ip_from real_ip_recursive",
    HEADERS,
  ),
  ...all(
    "ssl_certificate ssl_certificate_key ssl_protocols ssl_ciphers ssl_session_cache ssl_session_timeout ssl_prefer_server_ciphers ssl_dhparam ssl_client_certificate ssl_verify_client ssl_session_tickets ssl_stapling ssl_stapling_verify ssl_trusted_certificate ssl",
    TLS_HERE,
  ),
  ...all(
    "proxy_ssl_verify proxy_ssl_name proxy_ssl_server_name proxy_ssl_certificate proxy_ssl_certificate_key proxy_ssl_trusted_certificate proxy_ssl_protocols proxy_ssl_session_reuse proxy_ssl_ciphers proxy_ssl_verify_depth",
    TLS_THERE,
  ),
  ...all(
    "worker_processes worker_connections worker_rlimit_nofile user pid error_log daemon use multi_accept accept_mutex load_module access_log log_format log_not_found include types default_type types_hash_max_size server_tokens server_names_hash_bucket_size server_names_hash_max_size map_hash_bucket_size pcre_jit env variables_hash_max_size variables_hash_bucket_size http2 stub_status charset gzip gzip_types gzip_vary gzip_proxied gzip_comp_level gzip_min_length gzip_disable",
    PROCESS,
  ),
  ...all(
    "limit_req limit_req_zone limit_conn limit_conn_zone limit_req_status limit_conn_status limit_rate",
    leftOut("rates are limited by key: spec.auth (docs/keys.md); requests of one address by limits.perClientRequests"),
  ),
  ...all(
    "auth_request auth_basic auth_basic_user_file auth_jwt auth_jwt_key_file allow deny satisfy",
    leftOut("who may ask is in spec.auth (docs/keys.md)"),
  ),
  ...all(
    "root index try_files return rewrite error_page alias autoindex expires add_header set if map geo split_clients server_name location internal mirror sub_filter proxy_cache_path proxy_method proxy_set_body more_set_headers",
    SITE,
  ),
};

function all(names: string, take: TakeDirective): Readonly<Record<string, TakeDirective>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, take]));
}

/** Blocks that only hold directives which are looked at one by one. */
const INSIDE: ReadonlySet<string> = new Set(["http", "server", "location", "events", "stream"]);

/** Upstream blocks of nginx, and the servers that pass on to them. */
export const nginx: Source = {
  kind: "nginx",
  title: "nginx's upstream blocks",
  recognises: ({ text }) => /(^|[\s;{}])upstream\s+[^\s{};]+\s*\{/.test(text),
  read({ file, text }, draft) {
    const directives = directivesIn(file, text);
    const upstreams = new Set<string>();
    const tls = new Set<string>();
    const survey = (all: readonly Directive[]): void => {
      for (const { name, words, block } of all) {
        if (name === "upstream") upstreams.add(words[0] ?? "");
        const [, passed] = (name === "proxy_pass" && /^https:\/\/([^/]+)/.exec(words[0] ?? "")) || [];
        if (passed !== undefined) tls.add(passed);
        survey(block ?? []);
      }
    };
    survey(directives);
    take(directives, draft, { tls, upstream: "", isOne: upstreams.size <= 1 });
  },
};

function take(directives: readonly Directive[], draft: Draft, where: Where): void {
  for (const directive of directives) {
    const { name, words, line, block } = directive;
    if (name === "upstream" && block !== undefined) take(block, draft, { ...where, upstream: words[0] ?? "" });
    else if (name === "location" && block !== undefined && words.at(-1) !== "/") {
      draft.find("location", line, [
        "changed",
        "paths of inference APIs are all served, others where a passthrough plugin lists them",
      ]);
      take(block, draft, where);
    } else if (INSIDE.has(name) && block !== undefined) take(block, draft, where);
    else if (name === "server" && where.upstream !== "") draft.find("server", line, takeServer(directive, draft, where));
    else {
      const known = Object.hasOwn(DIRECTIVES, name) ? DIRECTIVES[name] : undefined;
      draft.find(
        name.slice(0, 60),
        line,
        known === undefined ? notUnderstood("no such directive is known here") : known(directive, draft, where),
      );
    }
  }
}
