import type { MessageStatus } from './message.ts';

export const runningStatuses = ['in_progress', 'corroborating'] as const satisfies readonly MessageStatus[];

export type RunningStatus = (typeof runningStatuses)[number];
export type TerminalStatus = Exclude<MessageStatus, RunningStatus>;

export function isRunning(status: MessageStatus): status is RunningStatus {
  return status === 'in_progress' || status === 'corroborating';
}

/** The text of a failed reply. The reason is in the log, under the trace ID. */
export const failedReplyContent = 'The reply could not be generated. Please try again.';

/** Why a reply that no worker will finish fails. */
export const failureReasons = {
  overdue: 'The reply did not end by its deadline.',
};

/**
 * From this crash on a reply is a *suspect*: it may be what ends the processes that write it, so it is written in a process
 * of its own. The index `message_suspect` has the same number.
 */
export const crashesOfSuspect = 2;

/** Suspects that one process writes at once. */
export const suspectSlots = 2;

const firstRetryMs = 1000;
const retryMsMax = 30_000;

/**
 * How long a reply waits after a temporary failure; undefined if it has failed for good. The delay doubles with every
 * attempt and has random jitter, so that replies that failed together are not retried together. It is never shorter than
 * the provider asked for. If that is past the reply's deadline, the reply fails at once.
 */
export function retryDelayMs(
  failed: { attempts: number; retryAfterMs: number | undefined; remainingMs: number },
  attemptsMax: number,
  chance: number,
): number | undefined {
  if (failed.attempts >= attemptsMax) return undefined;
  const spread = Math.min(retryMsMax, firstRetryMs * 2 ** (failed.attempts - 1)) * (0.5 + chance / 2);
  const delayMs = Math.round(Math.max(spread, failed.retryAfterMs ?? 0));
  return delayMs < failed.remainingMs ? delayMs : undefined;
}

/**
 * Shares a worker's free slots among the organizations with pending replies. Organizations that arrive together get
 * equal shares. One that arrives alone gets half of the free slots, and the next one half of the rest, so that it takes
 * many organizations to use all slots. (Network switches use the same dynamic threshold to share buffers among ports.)
 */
export function shareSlots<Id>(
  free: number,
  organizations: readonly Id[],
  runningOf: (organizationId: Id) => number,
): { organizationId: Id; limit: number }[] {
  const shares: { organizationId: Id; limit: number }[] = [];
  let left = free;
  organizations.forEach((organizationId, index) => {
    const sharers = organizations.length - index;
    const equal = Math.ceil(left / (sharers + 1));
    // Afterwards it has about as many slots as are free.
    const allowed = Math.ceil((left - runningOf(organizationId)) / 2);
    const limit = Math.min(equal, allowed);
    if (limit <= 0) return;
    shares.push({ organizationId, limit });
    left -= limit;
  });
  return shares;
}

/** Organizations take turns at the slots for suspects. There are few, so one that is alone gets all of them. */
export function takeTurns<Id>(
  free: number,
  organizations: readonly Id[],
): { organizationId: Id; limit: number }[] {
  let left = free;
  return organizations.slice(0, free).map((organizationId, index, sharers) => {
    const limit = Math.ceil(left / (sharers.length - index));
    left -= limit;
    return { organizationId, limit };
  });
}

/** The language model that the operator has configured, without its key. */
export interface ConfiguredModel {
  /** As in SKEIN_MODEL. */
  readonly name: string;
  /** Null for a model that runs inside the service: there is nothing to test. */
  readonly provider: string | null;
  /** Asks the provider one question, without retries. Undefined without a provider. */
  test(question: string, withinMs: number): Promise<ModelTrial | undefined>;
}

export type ModelTrial = { readonly model: string; readonly ms: number } & (
  | { readonly ok: true; readonly firstTextMs: number; readonly answer: string }
  | { readonly ok: false; readonly error: string; readonly nextStep: string }
);

export const trialQuestion = 'Reply with one short sentence: what is a skein?';
