/** What must be true in every world, at every step. */
export const invariants = {
  acknowledged: 'acknowledged writes stay',
  whole: 'each reply ends exactly once, with whole text',
  fenced: 'only the holder of a claim writes its reply',
  blame: 'a crash costs no reply an attempt, and suspects are written apart',
  quota: 'the quota is neither exceeded nor lost',
  revoked: 'a revoked credential does nothing',
  authority: 'a write happens exactly if its authority holds at its commit',
  walks: 'a walk shows each thread of its start exactly once',
  ends: 'replies, waits and streams end',
  tenants: 'no organization sees data of another',
  fair: 'no organization starves',
  errors: 'nothing fails unless a fault explains it',
} as const;

export type Invariant = keyof typeof invariants;

export interface Violation {
  readonly invariant: Invariant;
  readonly detail: string;
}
