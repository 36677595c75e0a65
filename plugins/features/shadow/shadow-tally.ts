import type { ShadowChoice } from "../../../core/contract/shadow.ts";

/** What the shadow profile has done since it has its name. */
export class ShadowTally {
  readonly profile: string;
  percent: number;
  /** Requests that it decided. */
  decisions = 0;
  /** Those among them for which its first choice was another one. */
  disagreements = 0;
  /** Disagreements in which one of the two profiles refuses. */
  refusals = 0;
  /** Expected milliseconds to the first token that its choices would have added, and saved. */
  addedMs = 0;
  savedMs = 0;
  /** Decisions in which one of its plugins failed; a failed filter or picker leaves no choice, and is no decision. */
  faults = 0;
  /** Requests that it did not decide because it takes too much time. */
  skipped = 0;

  constructor(profile: string, percent: number) {
    this.profile = profile;
    this.percent = percent;
  }

  decided({ isSame, differenceMs }: ShadowChoice): void {
    this.decisions += 1;
    if (isSame) return;
    this.disagreements += 1;
    if (Number.isNaN(differenceMs)) this.refusals += 1;
    else if (differenceMs > 0) this.addedMs += differenceMs;
    else this.savedMs -= differenceMs;
  }
}
