import { thrownCode, thrownMessage } from "../../core/contract/thrown-text.ts";
import { readBoundedNow } from "../../core/runtime/read-file.ts";

const MOST_BYTES = 1024 * 1024;

/**
 * Reads a file that the process needs to reach the API server. Throws an Error that names it and says what to do. It is read in one
 * go, because a config that can't run has to be refused at once, and these files are small and on the machine.
 */
export function readSmallFile(path: string, what: string): string {
  try {
    const bytes = readBoundedNow(path, MOST_BYTES);
    if (bytes.length > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`);
    return bytes.toString("utf8");
  } catch (thrown) {
    const code = thrownCode(thrown);
    const cause = code === "ENOENT" ? "there is no such file" : code === "EACCES" ? "it may not be read" : thrownMessage(thrown);
    throw new Error(`${what} ${path} can't be used: ${cause}.`);
  }
}
