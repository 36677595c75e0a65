import type { ShadowChoice, ShadowCounts } from "../../contract/shadow.ts";

/** What the shadow profile does, counted. */
export class ShadowTally implements ShadowCounts {
  readonly profile: string;
  percent: number;
  decisions = 0;
  disagreements = 0;
  refusals = 0;
  addedMs = 0;
  savedMs = 0;
  faults = 0;
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
