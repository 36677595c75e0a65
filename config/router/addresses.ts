import { isIP } from "node:net";
import { lineOfText, z } from "../../core/contract/options.ts";
import type { AdminAddress, AdminToken, ListenAddress } from "../../core/router-config.ts";
import { obstacleToSharedPorts, PORT_SHARERS } from "../../core/runtime/shared-port.ts";
import { DEFAULT_ADMIN } from "../../core/settings/default-admin.ts";
import { count, onOff, type Row } from "../../core/settings/row.ts";
import { DEFAULT_LISTEN } from "../../core/settings/tables.ts";
import type { CorsSettings } from "../../core/settings.ts";
import type { Place } from "../read/documents.ts";
import type { Report } from "../read/problems.ts";
import { readSecret, secretReference } from "../read/secret.ts";
import { section, setting } from "../schema/section.ts";
import { headerName } from "../schema/values.ts";
import { readServerTls, serverTlsSchema } from "./server-tls.ts";
import type { TlsFiles } from "./tls-files.ts";

// `spec.listen` and `spec.admin`: the router's own addresses.

/** Each of the two has defaults of its own. */
const ADDRESS = {
  port: { unit: "count", min: 0, max: 65_535, text: "TCP port; 0 takes any free one." },
  isPortShared: {
    ...onOff(
      false,
      "Whether other processes may listen on the same port, so that a new one can start before the old one stops. Needs Deno, Bun, or Node 22.12 or newer.",
    ),
    key: "reusePort",
  },
} satisfies Readonly<Record<string, Row>>;
const CORS_MAX_AGE_S = count(600, "Seconds that a browser may keep the answer to a preflight.", 0, 86_400);
const READ_ONLY = { ...onOff(false, "Whether the admin API refuses every change."), key: "readOnly" };

const origin = z.string().refine(isOrigin, 'an origin as browsers write it, such as "https://chat.example", or "*" for all');

/** Scheme, host and port alone, in lower case, without a default port. Applications have schemes of their own: tauri://localhost. */
function isOrigin(text: string): boolean {
  if (text === "*") return true;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@"',]+$/.test(text) || text !== text.toLowerCase()) return false;
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** `spec.listen.cors`. */
const corsSchema = z
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

const shared = {
  host: z
    .string()
    .refine(
      (text) => isIP(text) !== 0 || /^[A-Za-z0-9_.-]+$/.test(text),
      "a host name or IP address, without scheme, port or brackets",
    )
    .describe("Host name or IP address to listen on; 0.0.0.0 for every network. Default 127.0.0.1."),
  ...ADDRESS,
  tls: serverTlsSchema.describe("Speaks TLS on this port. Default off: plain HTTP.").optional(),
};

export const listenSchema = section(
  { ...shared, cors: corsSchema.describe("Lets web pages of other origins call the router. Default off.").optional() },
  DEFAULT_LISTEN,
);

const tokenSchema = z.strictObject({
  name: lineOfText.describe("Whose it is: changes made with it are known by this name."),
  role: z.enum(["read", "change"]).describe("What it is good for; change includes read."),
  token: secretReference.describe("Where the token is: env:NAME or file:PATH."),
});

/** Of the token in `spec.admin.token`. */
const SOLE_TOKEN = { name: "admin", role: "change" } as const;

/** Whether it may stand in `spec.admin.token`. */
export const isSoleToken = ({ name, role }: AdminToken) => name === SOLE_TOKEN.name && role === SOLE_TOKEN.role;

export const adminSchema = section(
  {
    ...shared,
    hosts: z
      .array(z.string().regex(/^[A-Za-z0-9_.-]+$/, "a host name, without scheme and port"))
      .describe("Accepted host names with a dot, beside the admin port's host. IP addresses and localhost are always accepted."),
    token: secretReference
      .describe(
        "What changes through the admin API must bring: env:NAME or file:PATH. Needed where the port is open to the network.",
      )
      .optional(),
    tokens: z
      .array(tokenSchema)
      .describe("Tokens of several people and programs. With one whose role is read, nothing is shown without a token.")
      .optional(),
    isReadOnly: READ_ONLY,
  },
  DEFAULT_ADMIN,
);

type AdminSpec = z.infer<typeof adminSchema>;

/** The admin port with its tokens; undefined where it is off. Adds the tokens' files to `files`. */
export async function readAdmin(
  spec: AdminSpec | false,
  resource: Place,
  tlsFiles: TlsFiles,
  files: Set<string>,
): Promise<AdminAddress | undefined> {
  if (spec === false) return undefined;
  const { token, tokens: listed = [], tls: writtenTls, ...address } = spec;
  const written = [
    ...(token === undefined ? [] : [{ ...SOLE_TOKEN, token, path: ["spec", "admin", "token"] }]),
    ...listed.map((each, index) => ({ ...each, path: ["spec", "admin", "tokens", index, "token"] })),
  ];
  const tokens: AdminToken[] = [];
  for (const { name, role, token: reference, path } of written) {
    const before = tokens.find((each) => each.name === name);
    if (before !== undefined)
      resource.report(path, { found: `a second token of "${name}"`, wanted: "a name of its own for each" });
    const secret = await readSecret(reference, path, resource, files);
    if (secret === undefined) continue;
    const twin = tokens.find((each) => each.secret.reveal() === secret.reveal());
    if (twin !== undefined) resource.report(path, { found: `the token of "${twin.name}"`, wanted: "another one for each" });
    tokens.push({ name, role, secret });
  }
  const tls = await readServerTls(writtenTls, ["spec", "admin", "tls"], resource, tlsFiles, files);
  return { ...address, tokens, ...(tls && { tls }) };
}

const EVERY_NETWORK = new Set(["0.0.0.0", "::"]);

export function refuseUnsharablePort(part: "listen" | "admin", address: ListenAddress | undefined, report: Report): void {
  const obstacle = address?.isPortShared ? obstacleToSharedPorts() : "";
  if (obstacle === "") return;
  report(["spec", part, "reusePort"], { found: `reusePort: true, but ${obstacle}`, wanted: PORT_SHARERS });
}

export function refuseSharedPort(listen: ListenAddress, admin: ListenAddress, report: Report): void {
  const isSameHost = listen.host === admin.host || EVERY_NETWORK.has(listen.host) || EVERY_NETWORK.has(admin.host);
  if (listen.port !== admin.port || listen.port === 0 || !isSameHost) return;
  const found = `port ${admin.port} for admin as well as for listen`;
  report(["spec", "admin", "port"], { found, wanted: "a port of its own, or admin: false" });
}
