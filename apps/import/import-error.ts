/** Why a config of another router can't be taken over; the message says what to do. */
export class ImportError extends Error {
  /** The command line is at fault, not the file. */
  readonly isUsage: boolean;

  constructor(message: string, isUsage = false) {
    super(message);
    this.isUsage = isUsage;
  }
}
