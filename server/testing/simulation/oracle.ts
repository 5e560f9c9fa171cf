import type { MessageId, OrganizationId, ThreadId } from '../../src/domain/id.ts';
import type { Message } from '../../src/domain/message.ts';
import {
  crashesOfSuspect,
  failedReplyContent,
  failureReasons,
  isRunning,
  type TerminalStatus,
} from '../../src/domain/reply.ts';
import type {
  ClaimedReply,
  Listing,
  ReplyClaim,
  ReplyName,
  ReplyQueue,
  Store,
} from '../../src/storage/port/store.ts';
import { AuthorityTruth } from './authority-truth.ts';
import type { EventLoop, SimulatedProcess } from './event-loop.ts';
import { Fairness, unnoticedJumpMs } from './fairness.ts';
import type { Invariant, Violation } from './invariants.ts';
import { getAuthority, type Transactions } from './memory-store/open.ts';
import type { Answers } from './model.ts';
import { leaseMs, replyDeadlineMs } from './node.ts';
import { QuotaTruth } from './quota-truth.ts';
import {
  isVisible,
  type KeyTruth,
  type ReplyTruth,
  type ThreadTruth,
  Timeline,
  type WalkStart,
} from './truth.ts';

type Call<Method extends keyof Transactions> = (
  args: Parameters<Transactions[Method]>,
  result: ReturnType<Transactions[Method]>,
  node: SimulatedProcess,
) => void;

/**
 * Derives the correct state from the commits in their order, and checks every response against it. It has its own
 * implementation of every rule and never reads the store.
 */
export class Oracle {
  readonly threads = new Map<ThreadId, ThreadTruth>();
  readonly replies = new Map<MessageId, ReplyTruth>();
  readonly keys = new Map<string, KeyTruth>();
  /** In the order of their creation. */
  readonly recent: ThreadTruth[] = [];
  readonly walkStarts: WalkStart[] = [];
  readonly running = new Set<ReplyTruth>();
  violation: Violation | undefined;
  /** For how long there has been no fault. */
  healthyMs = () => 0;
  /** Called when a reply has ended. */
  onEnd: (reply: ReplyTruth) => void = () => {};
  /** Called when a reply was added. */
  onWaiting: (reply: ReplyTruth) => void = () => {};
  readonly #loop: EventLoop;
  readonly #answers: Answers;
  readonly #quotas = new QuotaTruth((...expected) => this.expect(...expected));
  /** Threads that are not deleted. */
  readonly #alive = new Map<OrganizationId, Set<ThreadTruth>>();
  readonly #authorities = new AuthorityTruth(this.keys);
  readonly #fairness = new Fairness();
  readonly #idempotency = new Map<string, ThreadId>();
  readonly #checks: { readonly [Method in keyof Transactions]?: Call<Method> };

  constructor(loop: EventLoop, answers: Answers) {
    this.#loop = loop;
    this.#answers = answers;
    this.#checks = this.#createChecks();
  }

  /** Moments are numbers of steps: at most one commit happens in each. */
  get moment(): number {
    return this.#loop.steps;
  }

  expect(holds: boolean, invariant: Invariant, detail: () => string): void {
    if (!holds) this.violation ??= { invariant, detail: detail() };
  }

  readonly observe = (
    node: SimulatedProcess,
    method: keyof Transactions,
    args: readonly unknown[],
    result: unknown,
  ): void => {
    this.#checkAuthority(method, args, result);
    this.#checks[method]?.(args as never, result as never, node);
  };

  /** Lists the threads of a listing in their order. */
  listed(organizationId: OrganizationId, listing: Listing): ThreadTruth[] {
    return [...this.#alive.get(organizationId)!]
      .filter((thread) => isVisible(listing, thread))
      .sort((a, b) => b.activity - a.activity);
  }

  #checkAuthority(method: string, args: readonly unknown[], result: unknown): void {
    const authority = getAuthority(args);
    if (authority === undefined) return;
    const holds = this.#authorities.holds(args[0] as OrganizationId, authority);
    const isDone = result !== 'unauthorized';
    const outcome = isDone
      ? 'was done although its authority had ended'
      : 'was refused although its authority holds';
    this.expect(holds === isDone, 'authority', () => `${method} by ${JSON.stringify(authority)} ${outcome}`);
  }

  #touch(thread: ThreadTruth): void {
    thread.activity = this.moment;
    thread.activityMs = this.#loop.nowMs;
  }

  #addReply(thread: ThreadTruth, id: MessageId, prompt: string | undefined): void {
    if (prompt !== undefined) thread.prompts.push(prompt);
    const { nowMs } = this.#loop;
    const reply: ReplyTruth = {
      id,
      thread,
      prompt: thread.prompts.at(-1)!,
      deadlineMs: nowMs + replyDeadlineMs,
      ended: undefined,
      claim: undefined,
      lostClaims: [],
      retries: 0,
      crashes: inheritedCrashes(thread.replies.at(-1)),
      waitingSinceMs: nowMs,
    };
    thread.replies.push(reply);
    this.replies.set(id, reply);
    this.running.add(reply);
    this.onWaiting(reply);
  }

  #end(id: MessageId, status: TerminalStatus, content: string | undefined): void {
    const reply = this.replies.get(id);
    this.expect(reply !== undefined && reply.ended === undefined, 'whole', () => `${id} ended twice`);
    if (reply === undefined || reply.ended !== undefined) return;
    reply.ended = { status, content, at: this.moment };
    this.#leave(reply);
    this.running.delete(reply);
    this.#loop.note(`  ${nameReply(reply)} ended: ${status}`);
    this.onEnd(reply);
  }

  /** The reply if the claim is its current one, which every successful write must name. */
  #held({ messageId, token }: ReplyClaim, what: string): ReplyTruth | undefined {
    const reply = this.replies.get(messageId);
    const isHeld = reply?.ended === undefined && reply?.claim?.token === token;
    this.expect(isHeld, 'fenced', () => `${what} of ${messageId} succeeded with a claim that was lost`);
    return isHeld ? reply : undefined;
  }

  #leave(reply: ReplyTruth): void {
    if (reply.claim === undefined) return;
    this.#fairness.left(reply.thread.organizationId, reply.claim.node, this.#loop.nowMs);
    reply.claim = undefined;
  }

  #checkText(reply: ReplyTruth, status: string, content: string): void {
    const whole =
      status === 'completed'
        ? this.#answers.isWhole(reply.prompt, content)
        : status === 'failed'
          ? content === failedReplyContent
          : this.#answers.isPart(reply.prompt, content);
    this.expect(whole, 'whole', () => `${nameReply(reply)} is ${status} with the text “${content}”`);
  }

  /** The lease has ended: its node died, was paused or was cut off. */
  #crash({ messageId }: ReplyName): void {
    const reply = this.replies.get(messageId);
    const claim = reply?.claim;
    const isOver = claim !== undefined && claim.leaseEndsMs - unnoticedJumpMs <= this.#loop.nowMs;
    this.expect(isOver, 'fenced', () => `the lease of ${messageId} was ended while it ran`);
    if (reply === undefined || claim === undefined) return;
    reply.crashes += 1;
    reply.lostClaims.push(claim);
    this.#leave(reply);
    reply.waitingSinceMs = this.#loop.nowMs;
  }

  #checkBlame({ messageId, attempts }: ClaimedReply, queue: ReplyQueue): void {
    const reply = this.replies.get(messageId);
    if (reply === undefined) return;
    const isBlamed = attempts !== reply.retries;
    this.expect(
      !isBlamed,
      'blame',
      () => `${nameReply(reply)} has ${attempts} attempts, not ${reply.retries}`,
    );
    const isApart = queue === (isSuspect(reply) ? 'suspects' : 'usual');
    this.expect(isApart, 'blame', () => `${nameReply(reply)} was in the queue ${queue}`);
  }

  #claim({ messageId, token }: ReplyClaim, node: SimulatedProcess): void {
    const reply = this.replies.get(messageId);
    const { nowMs } = this.#loop;
    this.expect(reply !== undefined && !reply.ended, 'whole', () => `${messageId} was claimed after its end`);
    if (reply === undefined) return;
    const before = reply.claim;
    const isOver = before === undefined || before.leaseEndsMs - unnoticedJumpMs <= nowMs;
    this.expect(
      isOver,
      'fenced',
      () => `${nameReply(reply)} was claimed while ${before?.node.name} holds its lease`,
    );
    if (before !== undefined) reply.lostClaims.push(before);
    reply.claim = { token, node, leaseEndsMs: nowMs + leaseMs, excused: node.state !== 'running' };
  }

  #revoke(isRevoked: (key: KeyTruth) => boolean): void {
    for (const key of this.keys.values()) {
      if (key.live.value && isRevoked(key)) key.live.set(false, this.moment);
    }
  }

  #checkThread(truth: ThreadTruth, found: Awaited<ReturnType<Store['getThread']>>): void {
    if (found === undefined) return;
    const { title, published, organizationId } = found.thread;
    this.expect(organizationId === truth.organizationId, 'tenants', () => `${truth.id} was read by another`);
    const isSame = title === truth.title.value && published === truth.published.value;
    this.expect(isSame, 'acknowledged', () => `${truth.id} has the title ${title}, not ${truth.title.value}`);
    const prompts = found.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    const kept = prompts.join() === truth.prompts.join();
    this.expect(kept, 'acknowledged', () => `${truth.id} has the prompts ${prompts}, not ${truth.prompts}`);
    for (const message of found.messages) if (message.role === 'assistant') this.#checkReply(message);
  }

  #checkReply({ id, status, content }: Message & { role: 'assistant' }): void {
    const reply = this.replies.get(id);
    if (reply === undefined) return;
    const { ended } = reply;
    if (ended !== undefined) ended.content ??= content;
    const isSame = ended ? status === ended.status && content === ended.content : isRunning(status);
    this.expect(isSame, 'acknowledged', () => `${nameReply(reply)} reads ${status} “${content}”`);
    this.#checkText(reply, isRunning(status) ? 'running' : status, content);
  }

  #createChecks(): { readonly [Method in keyof Transactions]?: Call<Method> } {
    return {
      createOrganization: ([{ id, dailyQuota }]) => {
        this.#quotas.set(id, dailyQuota);
        this.#alive.set(id, new Set());
      },
      updateOrganization: ([id, { dailyQuota }]) => {
        if (dailyQuota !== undefined) this.#quotas.set(id, dailyQuota);
      },
      createApiKey: ([organizationId, { id, hash, userId }], result) => {
        if (result !== 'created') return;
        this.keys.set(hash, { id, organizationId, userId, live: new Timeline(true, this.moment) });
      },
      revokeApiKey: ([, keyId]) => this.#revoke(({ id }) => id === keyId),
      createSession: ([{ tokenHash, userId }]) => this.#authorities.startSession(tokenHash, userId),
      endSession: ([tokenHash]) => this.#authorities.endSession(tokenHash),
      addMember: ([organizationId, { role }], result) => {
        if (result === 'unauthorized' || result.outcome !== 'added') return;
        this.#authorities.setRole(organizationId, result.userId, role);
      },
      setMemberRole: ([organizationId, userId, role], result) => {
        if (result === 'changed') this.#authorities.setRole(organizationId, userId, role);
      },
      removeMember: ([organizationId], result) => {
        if (result === 'unauthorized' || result.outcome !== 'removed') return;
        this.#authorities.setRole(organizationId, result.userId, undefined);
        this.#revoke((key) => key.organizationId === organizationId && key.userId === result.userId);
      },
      admitKey: ([hash, day], result) => {
        const isLive = this.keys.get(hash)?.live.value === true;
        this.expect(
          isLive === (result !== undefined),
          'revoked',
          () => `a key was ${result ? '' : 'not '}admitted`,
        );
        this.#quotas.admit(result, day);
      },
      createThread: ([organizationId, thread, { userId }], result, node) => {
        if (result === 'unauthorized') return;
        const { id, accountId, title, prompt, replyId, idempotency } = thread;
        const key = idempotency && `${organizationId} ${userId} ${idempotency.key}`;
        const first = key === undefined ? undefined : this.#idempotency.get(key);
        if (result.outcome === 'repeated') {
          const isSame = result.threadId === first;
          this.expect(isSame, 'acknowledged', () => `a repeated create returned another thread`);
        }
        if (result.outcome !== 'created') return;
        this.expect(first === undefined, 'acknowledged', () => `${key} created a second thread`);
        if (key !== undefined) this.#idempotency.set(key, id);
        const { moment } = this;
        const truth: ThreadTruth = {
          ...{ id, organizationId, userId, accountId, createdAt: moment, activity: moment, activityMs: 0 },
          ...{ title: new Timeline(title, moment), deleted: new Timeline(false, moment) },
          ...{ published: new Timeline(false, moment), prompts: [], replies: [] },
        };
        this.threads.set(id, truth);
        this.recent.push(truth);
        this.#alive.get(organizationId)!.add(truth);
        this.#touch(truth);
        this.#addReply(truth, replyId, prompt);
        const { claim } = thread;
        if (claim !== undefined)
          this.#claim({ ...claim, organizationId, threadId: id, messageId: replyId }, node);
      },
      getThread: ([organizationId, id, reader], result) => {
        const truth = this.threads.get(id);
        if (truth === undefined) return;
        const isOwn = organizationId === truth.organizationId;
        const may = isOwn && (reader === undefined || isVisible(reader, truth));
        this.expect(may || result === undefined, 'tenants', () => `${id} was shown to a stranger`);
        this.expect(!may || result !== undefined, 'acknowledged', () => `${id} is missing`);
        this.#checkThread(truth, result);
      },
      renameThread: ([, id, title], result) => {
        if (result === 'unauthorized' || result.outcome !== 'renamed') return;
        const truth = this.threads.get(id)!;
        truth.title.set(title, this.moment);
        this.#touch(truth);
      },
      deleteThread: ([, id], result) => {
        if (result === 'unauthorized' || result.outcome !== 'deleted') return;
        const truth = this.threads.get(id)!;
        truth.deleted.set(true, this.moment);
        this.#alive.get(truth.organizationId)!.delete(truth);
        this.#cancel(result.cancelled);
      },
      restoreThread: ([, id], result) => {
        if (result !== 'restored') return;
        const truth = this.threads.get(id)!;
        truth.deleted.set(false, this.moment);
        this.#alive.get(truth.organizationId)!.add(truth);
      },
      setThreadPublished: ([, id, published], result) => {
        if (result === 'done') this.threads.get(id)!.published.set(published, this.moment);
      },
      addReply: ([, id, { prompt, replyId }], result) => {
        if (result === 'unauthorized' || result.outcome !== 'added') return;
        const truth = this.threads.get(id)!;
        const isIdle = truth.replies.every(({ ended }) => ended !== undefined);
        this.expect(isIdle, 'whole', () => `${id} has two running replies`);
        this.#addReply(truth, replyId, prompt?.content);
        if (prompt !== null) this.#touch(truth);
      },
      beginWalk: ([organizationId, listing]) => {
        const threads = this.listed(organizationId, listing).map((thread) => ({
          thread,
          activityMs: thread.activityMs,
        }));
        this.walkStarts.push({ organizationId, listing: JSON.stringify(listing), at: this.moment, threads });
        if (this.walkStarts.length > 500) this.walkStarts.splice(0, 250);
      },
      organizationsWaiting: ([, , queue], _, node) => {
        if (queue !== 'suspects') this.#fairness.looked(node, this.#loop.nowMs);
      },
      claimReplies: ([, , , queue], claimed, node) => {
        for (const claim of claimed) {
          this.#checkBlame(claim, queue);
          this.#claim(claim, node);
        }
        // There are fewer slots for suspects than organizations: these take turns.
        if (queue === 'suspects') return;
        if (claimed.length === 0 || this.healthyMs() < 3000) return;
        const usual = [...this.running].filter((reply) => !isSuspect(reply));
        const id = this.#fairness.passedOver(node, usual, this.#loop.nowMs);
        this.expect(id === undefined, 'fair', () => `${node.name} passed over ${id}, which was waiting`);
      },
      renewReplies: ([claims], lost) => {
        for (const claim of claims) {
          if (lost.some(({ messageId }) => messageId === claim.messageId)) continue;
          const reply = this.#held(claim, 'a renewal');
          if (reply?.claim) reply.claim.leaseEndsMs = this.#loop.nowMs + leaseMs;
        }
      },
      recordReplyProgress: ([claim, { content }], isHeld) => {
        const reply = isHeld ? this.#held(claim, 'progress') : undefined;
        if (reply !== undefined) this.#checkText(reply, 'running', content);
      },
      settleReply: ([claim, { status, content }], isHeld) => {
        const reply = isHeld ? this.#held(claim, 'the end') : undefined;
        if (reply === undefined) return;
        this.#checkText(reply, status, content);
        this.#end(reply.id, status, content);
      },
      releaseReply: ([claim, why], isHeld) => {
        const reply = isHeld ? this.#held(claim, 'a release') : undefined;
        if (reply === undefined) return;
        const retry = typeof why === 'object' ? why : undefined;
        if (retry !== undefined) reply.retries += 1;
        this.#leave(reply);
        // After the clock was set back, the store's time runs at half speed.
        reply.waitingSinceMs = this.#loop.nowMs + 2 * (retry?.delayMs ?? 0);
      },
      cancelReplies: (_, cancelled) => {
        if (cancelled !== 'unauthorized') this.#cancel(cancelled);
      },
      sweepReplies: ([{ unconfirmed }], { failed, crashed }) => {
        for (const reply of crashed) this.#crash(reply);
        for (const { messageId, failure } of failed) this.#failed(messageId, failure);
        for (const reply of this.running) {
          if (!unconfirmed.includes(reply.claim?.token ?? -1)) continue;
          this.#leave(reply);
          reply.waitingSinceMs = this.#loop.nowMs;
        }
      },
      endedReplies: ([replies], ended) => {
        const isRight = replies.every(
          (reply) => ended.includes(reply) === (this.replies.get(reply.messageId)?.ended !== undefined),
        );
        this.expect(isRight, 'whole', () => `the ends of ${replies.length} replies were reported wrongly`);
      },
      readQuota: ([organizationId, day], result) => this.#quotas.read(organizationId, day, result?.used),
    };
  }

  #cancel(ids: readonly MessageId[]): void {
    // It keeps its text so far, which the first read shows.
    for (const id of ids) this.#end(id, 'cancelled', undefined);
  }

  /** A sweep fails a reply only at its deadline. */
  #failed(id: MessageId, failure: string): void {
    const reply = this.replies.get(id);
    if (reply === undefined) return;
    const isDue =
      failure === failureReasons.overdue && this.#loop.nowMs >= reply.deadlineMs - unnoticedJumpMs;
    this.expect(isDue, 'ends', () => `${nameReply(reply)} failed before its deadline`);
    this.#end(id, 'failed', failedReplyContent);
  }
}

function isSuspect({ crashes }: ReplyTruth): boolean {
  return crashes >= crashesOfSuspect;
}

function inheritedCrashes(latest: ReplyTruth | undefined): number {
  return latest === undefined || latest.ended?.status === 'completed' ? 0 : latest.crashes;
}

export function nameReply({ id, prompt }: ReplyTruth): string {
  return `the reply to ${prompt} (…${id.slice(-4)})`;
}
