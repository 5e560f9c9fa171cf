import type { OrganizationId } from '../../src/domain/id.ts';
import type { Admission } from '../../src/storage/port/store.ts';
import type { Invariant } from './invariants.ts';

type Expect = (holds: boolean, invariant: Invariant, detail: () => string) => void;

/** Counts the granted requests of each organization and day, and checks every admission against the quota. */
export class QuotaTruth {
  readonly #quotas = new Map<OrganizationId, number>();
  readonly #granted = new Map<string, number>();
  readonly #expect: Expect;

  constructor(expect: Expect) {
    this.#expect = expect;
  }

  set(organizationId: OrganizationId, dailyQuota: number): void {
    this.#quotas.set(organizationId, dailyQuota);
  }

  admit(admission: Admission | undefined, day: number): void {
    if (admission?.use === undefined) return;
    const { organizationId, use } = admission;
    const quota = this.#quotas.get(organizationId)!;
    const before = this.#grantedOn(organizationId, day);
    if (use.granted) this.#granted.set(`${organizationId} ${day}`, before + 1);
    const isExact = use.granted === before < quota && use.remaining === Math.max(0, quota - before - 1);
    const counts = () => `${organizationId}: ${before} of ${quota} used, answered ${JSON.stringify(use)}`;
    this.#expect(isExact, 'quota', counts);
  }

  /** Checks how many requests the quota shows as used. */
  read(organizationId: OrganizationId, day: number, used: number | undefined): void {
    const isSame = used === this.#grantedOn(organizationId, day);
    this.#expect(isSame, 'quota', () => `${organizationId} shows ${used} requests`);
  }

  #grantedOn(organizationId: OrganizationId, day: number): number {
    return this.#granted.get(`${organizationId} ${day}`) ?? 0;
  }
}
