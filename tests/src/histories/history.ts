/** A period on this process's steady clock, in milliseconds. */
export interface Span {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A personal key: its holder sees and changes the threads of one user. */
export interface Credential {
  readonly keyId: string;
  readonly key: string;
  readonly user: string;
  readonly organization: string;
}

/** A reply as one read showed it. */
export interface SeenReply {
  readonly status: string;
  readonly content: string;
  readonly completedAt: string | null;
}

/** A thread as one page or one read showed it. */
export interface SeenThread {
  readonly id: string;
  readonly title: string;
  /** `updatedAt`, or `createdAt` if it is null. */
  readonly activity: string;
}

interface CallBase extends Span {
  readonly credential: Credential;
  /** Undefined if no response arrived. */
  readonly status: number | undefined;
  /** Why no response arrived. */
  readonly failure?: string | undefined;
}

export type Call =
  | (CallBase & {
      readonly kind: 'create';
      readonly id: string | undefined;
      readonly title: string;
      /** The text of the finished reply. */
      readonly reply: string;
    })
  | (CallBase & {
      readonly kind: 'get';
      readonly id: string;
      readonly seen: (SeenThread & { readonly reply: SeenReply }) | undefined;
    })
  | (CallBase & { readonly kind: 'rename'; readonly id: string; readonly title: string })
  | (CallBase & { readonly kind: 'delete'; readonly id: string })
  | (CallBase & {
      readonly kind: 'page';
      readonly walk: number;
      readonly threads: readonly SeenThread[];
      readonly isLast: boolean;
    });

export interface Revocation extends Span {
  readonly credential: Credential;
}

/** Something that breaks the site and repairs it again. Recovery is measured from the end of `run`. */
export interface Fault {
  readonly name: string;
  /** The database server dies, and with it the last quota counts, which are committed without a sync. */
  readonly losesCounts?: boolean;
  readonly run: () => Promise<void>;
}

/** Something that was broken on purpose, from the first moment until every node served requests again. */
export interface Outage extends Span {
  readonly fault: string;
  readonly losesCounts: boolean;
  /** From the end of the fault itself until every node served requests again. */
  readonly recoveryMs: number;
}

/** Everything that callers, operators and the fault injector of one round know. */
export interface History {
  readonly calls: readonly Call[];
  readonly revocations: readonly Revocation[];
  readonly outages: readonly Outage[];
  /** The daily quota of organizations that have a small one, and until when they have it. */
  readonly quotas: ReadonlyMap<string, { readonly limit: number; readonly until: number }>;
}

/** The request may have taken effect or not: it got no response, or an internal error. */
export function isUnknown({ status }: { readonly status: number | undefined }): boolean {
  return status === undefined || status >= 500;
}
