/**
 * What a filter or a scorer goes by. Where no replica meets it, the plugin can't do its work: `signalbox check` says so as far as the config
 * tells, and the status of a running router by what its replicas report.
 *
 * @example
 * needs: ({ label }) => [{ lack: `no replica has the label ${label}`, labelled: (labels) => label in labels }]
 */
export interface Need {
  /** That no replica meets it, and what comes of that: words behind "The scorer X can't do its work: ". */
  readonly lack: string;
  /** One of these numbers, which sources read of replicas. */
  readonly reported?: readonly ReportedNumber[];
  /** True for labels of a replica that meets it. */
  labelled?(labels: Readonly<Record<string, string>>): boolean;
}

/** As `ScrapedValues` has them. */
export type ReportedNumber = "waiting" | "running" | "kvUsage";
