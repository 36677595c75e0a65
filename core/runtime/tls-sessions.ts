/**
 * Deno 2.9 says of every resumed session that its client's certificate is right, also of one that began with a certificate that was
 * refused. So where clients must show one, no session may be resumed there.
 */
export const areSessionsUnverified = process.versions["deno"] !== undefined;
