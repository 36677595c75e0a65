import { lineOfText, z } from "./options.ts";

/**
 * How another server is spoken to at https:// addresses. Paths of files begin at the config file's folder.
 *
 * @example
 * const options = z.strictObject({ tls: tlsOptions.exactOptional() });
 */
export const tlsOptions = z
  .strictObject({
    caFile: lineOfText
      .describe("Authorities in PEM form that sign the server's certificate. Default: those of the system.")
      .optional(),
    serverName: lineOfText
      .describe("The name that must be in the server's certificate. Default: the host of its URL.")
      .optional(),
    certFile: lineOfText.describe("A certificate for servers that ask for one, in PEM form.").optional(),
    keyFile: lineOfText.describe("Its private key in PEM form, without a passphrase.").optional(),
    insecure: z
      .boolean()
      .describe("Accepts every certificate: for tests only, since anybody can then stand in for the server. Default false.")
      .default(false),
  })
  .refine(({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined), "certFile and keyFile together");

export type TlsOptions = z.output<typeof tlsOptions>;
