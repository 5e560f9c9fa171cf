import type { PersonAuthority } from '../../src/domain/authority.ts';
import type { ReplyClaim, Store } from '../../src/storage/port/store.ts';
import type { Invariant } from './invariants.ts';
import type { Tables, Transactions } from './memory-store/open.ts';
import type { SimulatedNode } from './node.ts';
import type { Mutation } from './world.ts';

/** A bug, which invariant finds it, and within how many seeds of 3,000 steps. */
interface PlantedBug {
  readonly breaks: readonly Invariant[];
  readonly withinSeeds: number;
  readonly mutation: Mutation;
}

/** Changes transactions of the database. */
function inDatabase(change: (before: Transactions, tables: Tables) => Partial<Transactions>): Mutation {
  return { transactions: (before, tables) => ({ ...before, ...change(before, tables) }) };
}

/** Changes the store as a node sees it. */
function inStore(change: (store: Store, node: SimulatedNode) => Partial<Store>): Mutation {
  return {
    node(node) {
      const { store } = node;
      Object.assign(store, change({ ...store }, node));
    },
  };
}

export const plantedBugs: Readonly<Record<string, PlantedBug>> = {
  'a worker that lost its claim still writes': {
    breaks: ['fenced', 'whole'],
    withinSeeds: 80,
    mutation: inDatabase((before, tables) => ({
      settleReply: (claim, result) => before.settleReply(current(tables, claim), result),
      recordReplyProgress: (claim, progress) => before.recordReplyProgress(current(tables, claim), progress),
    })),
  },
  'a lease is renewed without a check of the claim': {
    breaks: ['fenced'],
    withinSeeds: 40,
    mutation: inDatabase((before, tables) => ({
      renewReplies: (claims, leaseMs) =>
        before.renewReplies(
          claims.map((claim) => current(tables, claim)),
          leaseMs,
        ),
    })),
  },
  'a lease is released twice': {
    breaks: ['fenced'],
    withinSeeds: 20,
    mutation: {
      ...inDatabase((before, tables) => ({
        releaseReply: (claim, retry) => before.releaseReply(current(tables, claim), retry),
      })),
      ...inStore((store, { timers }) => ({
        async releaseReply(claim, retry) {
          const isReleased = await store.releaseReply(claim, retry);
          timers.after(400, () => void store.releaseReply(claim).catch(() => {}));
          return isReleased;
        },
      })),
    },
  },
  'a sweep ends leases that still run': {
    breaks: ['fenced', 'ends'],
    withinSeeds: 10,
    mutation: inDatabase((before) => ({
      sweepReplies: (sweep) => before.sweepReplies({ ...sweep, at: sweep.at + 2900, leases: true }),
    })),
  },
  'a crash counts as an attempt': {
    breaks: ['blame'],
    withinSeeds: 10,
    mutation: inDatabase((before, { running }) => ({
      sweepReplies(sweep) {
        const swept = before.sweepReplies(sweep);
        for (const { messageId } of swept.crashed) running.get(messageId)!.attempts += 1;
        return swept;
      },
    })),
  },
  'a suspect is written like any other reply': {
    breaks: ['blame'],
    withinSeeds: 10,
    mutation: inDatabase((before, { running }) => ({
      sweepReplies(sweep) {
        for (const reply of running.values()) reply.crashes = 0;
        return before.sweepReplies(sweep);
      },
    })),
  },
  'the end of a reply is not signaled': {
    breaks: ['ends'],
    withinSeeds: 5,
    mutation: {
      node({ replySignals }) {
        const { receive } = replySignals;
        replySignals.receive = (notice) => receive.call(replySignals, { ...notice, ended: [] });
        replySignals.replyEnded = () => {};
      },
    },
  },
  'wake-ups of the worker are lost': {
    breaks: ['ends'],
    withinSeeds: 10,
    mutation: {
      node({ replySignals }) {
        Object.defineProperty(replySignals, 'worker', { get: () => undefined, set() {} });
      },
    },
  },
  'a request is counted twice': {
    breaks: ['quota'],
    withinSeeds: 2,
    mutation: inDatabase((before, { organizations }) => ({
      admitKey(hash, day) {
        const admission = before.admitKey(hash, day);
        const quotaUse = admission && organizations.get(admission.organizationId)?.quotaUse;
        if (admission?.use?.granted) quotaUse?.set(day, quotaUse.get(day)! + 1);
        return admission;
      },
    })),
  },
  'a request above the quota is granted': {
    breaks: ['quota'],
    withinSeeds: 10,
    mutation: inDatabase((before) => ({
      admitKey(hash, day) {
        const admission = before.admitKey(hash, day);
        return admission?.use && { ...admission, use: { ...admission.use, granted: true } };
      },
    })),
  },
  'a rename leaves no note of its old position': {
    breaks: ['walks'],
    withinSeeds: 40,
    mutation: inDatabase((before, tables) => ({
      renameThread(organizationId, threadId, ...change) {
        const result = before.renameThread(organizationId, threadId, ...change);
        tables.thread(organizationId, threadId)?.moves.pop();
        return result;
      },
    })),
  },
  'a rename is acknowledged before it is committed': {
    breaks: ['acknowledged'],
    withinSeeds: 10,
    mutation: inStore((store) => ({
      async renameThread(organizationId, threadId, title, authority) {
        const thread = await store.findThread(organizationId, threadId);
        const renamed = store.renameThread(organizationId, threadId, title, authority);
        if (thread?.userId !== authority.userId) return renamed;
        void renamed.catch(() => {});
        return { outcome: 'renamed', thread: { ...thread, title } };
      },
    })),
  },
  'a node remembers for two seconds that a key is live': {
    breaks: ['revoked'],
    withinSeeds: 5,
    mutation: inStore((store, { timers }) => {
      const known = new Map<string, { untilMs: number; answer: Awaited<ReturnType<Store['admitKey']>> }>();
      return {
        async admitKey(hash, day) {
          const kept = known.get(hash);
          if (kept !== undefined && kept.untilMs > timers.steadyMs()) return kept.answer;
          const answer = await store.admitKey(hash, day);
          known.set(hash, { untilMs: timers.steadyMs() + 2000, answer });
          return answer;
        },
      };
    }),
  },
  'a node keeps a thread until it changes the thread itself': {
    breaks: ['acknowledged', 'tenants', 'whole'],
    withinSeeds: 10,
    mutation: inStore(({ getThread, renameThread, deleteThread, settleReply }) => {
      const kept = new Map<string, Awaited<ReturnType<Store['getThread']>>>();
      return {
        async getThread(...read) {
          const [, threadId, reader] = read;
          const found = kept.get(threadId) ?? (await getThread(...read));
          if (reader !== undefined) kept.set(threadId, found);
          return found;
        },
        async renameThread(...write) {
          return renameThread(...write).finally(() => kept.delete(write[1]));
        },
        async deleteThread(...write) {
          return deleteThread(...write).finally(() => kept.delete(write[1]));
        },
        async settleReply(...write) {
          return settleReply(...write).finally(() => kept.delete(write[0].threadId));
        },
      };
    }),
  },
  'a write does not check its key again': {
    breaks: ['authority'],
    withinSeeds: 80,
    mutation: inDatabase((before) => ({
      createThread: (organizationId, thread, authority) =>
        before.createThread(organizationId, thread, unverified(authority)),
      renameThread: (organizationId, threadId, title, authority) =>
        before.renameThread(organizationId, threadId, title, unverified(authority)),
    })),
  },
  'a change of a role does not check the role of its author again': {
    breaks: ['authority'],
    withinSeeds: 10,
    mutation: inDatabase((before) => ({
      setMemberRole: (organizationId, userId, role, note) =>
        before.setMemberRole(organizationId, userId, role, { ...note, authority: { kind: 'operator' } }),
    })),
  },
  'a follow-up does not check its session again': {
    breaks: ['authority'],
    withinSeeds: 20,
    mutation: inDatabase((before) => ({
      addReply: (organizationId, threadId, reply, authority) =>
        before.addReply(organizationId, threadId, reply, unverified(authority)),
    })),
  },
  'a read does not check who is reading': {
    breaks: ['tenants'],
    withinSeeds: 5,
    mutation: inDatabase((before) => ({
      getThread: (organizationId, threadId) => before.getThread(organizationId, threadId),
    })),
  },
  'a listing shows published threads of every organization': {
    breaks: ['tenants', 'walks'],
    withinSeeds: 10,
    mutation: inDatabase((before, tables) => ({
      beginWalk(organizationId, listing, limit) {
        const page = before.beginWalk(organizationId, listing, limit);
        const [other] = [...tables.organizations.keys()].filter((id) => id !== organizationId);
        const foreign = before.beginWalk(other!, { userId: null }, 1).rows;
        return { ...page, rows: [...page.rows, ...foreign] };
      },
    })),
  },
  'a deadline is not enforced': {
    breaks: ['ends'],
    withinSeeds: 10,
    mutation: inDatabase((before, { running }) => ({
      sweepReplies(sweep) {
        for (const reply of running.values()) reply.deadlineAt = sweep.at + 3_600_000;
        return before.sweepReplies(sweep);
      },
    })),
  },
  'the last part of a reply is lost': {
    breaks: ['whole'],
    withinSeeds: 2,
    mutation: inStore((store) => ({
      settleReply: (claim, { content, ...result }) =>
        store.settleReply(claim, {
          ...result,
          content: result.status === 'failed' ? content : content.slice(0, -1),
        }),
    })),
  },
  'one organization gets every slot of a worker': {
    breaks: ['fair'],
    withinSeeds: 40,
    mutation: inStore((store) => ({
      organizationsWaiting: () => store.organizationsWaiting(undefined, 1),
    })),
  },
  'an idempotency key is forgotten': {
    breaks: ['acknowledged'],
    withinSeeds: 20,
    mutation: inDatabase((before, { organizations }) => ({
      createThread(organizationId, ...create) {
        organizations.get(organizationId)?.idempotency.clear();
        return before.createThread(organizationId, ...create);
      },
    })),
  },
  'an outcome is given to the wrong caller of a batch': {
    breaks: ['acknowledged', 'tenants', 'revoked', 'quota', 'errors', 'whole', 'fenced'],
    withinSeeds: 10,
    mutation: {
      batching: ({ send, settings }) => ({
        settings,
        send: async (calls, isIsolated) => [...(await send(calls, isIsolated))].reverse(),
      }),
    },
  },
  'the error of one caller is given to the others of its batch': {
    breaks: ['errors'],
    withinSeeds: 40,
    mutation: {
      batching: ({ send, settings }) => ({
        send,
        settings: { ...settings, isCallSpecific: () => false },
      }),
    },
  },
};

/** The store verifies nothing for the operator. */
const unverified = ({ userId }: PersonAuthority): PersonAuthority => ({ kind: 'operator', userId });

/** The claim with the token of the reply's current holder. */
function current({ running }: Tables, claim: ReplyClaim): ReplyClaim {
  const reply = running.get(claim.messageId);
  return reply?.held ? { ...claim, token: reply.token } : claim;
}
