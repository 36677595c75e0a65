/**
 * On Deno, an accept that fails for want of a file descriptor (EMFILE) silently ends the accept loop: the server goes on
 * listening, and accepts no connection any more. Node and Bun accept again once there are descriptors.
 */
export const acceptEndsAtFileLimit: boolean = "deno" in process.versions;
