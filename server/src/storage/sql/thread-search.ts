import { hash } from 'node:crypto';
import type { OrganizationId } from '../../domain/id.ts';
import type { ThreadState } from '../../domain/message.ts';
import type {
  IndexedThread,
  ThreadQuery,
  ThreadSearch,
  ThreadSummary,
  UnindexedThread,
} from '../port/store.ts';
import { isRunning, ofLatest } from './replies.ts';
import { jsonRows, sql, statement, type Values } from './sql.ts';
import { method, rows, type Transactions } from './work.ts';

/** The terms of a scope start with this many characters of a hash. A collision costs time: the threads are checked, too. */
const scopeLength = 10;
/** PostgreSQL limits a term to 2 KB, and all terms of a thread together to 1 MB. */
const termsLengthMax = 400_000;

const hashScope = (...names: readonly string[]) => hash('sha256', names.join(' ')).slice(0, scopeLength);

/** No word contains a currency sign, so that these terms differ from all words. */
const anyThread = '¤';
const stateTerm = (state: ThreadState) => `¤${state.replace('_', '')}`;
/** Beginnings of this length are terms, too: both databases would read the entries of all words that start with one. */
const beginningLength = 3;
const beginningTerm = (beginning: string) => `${beginning}¤`;
const accountTerm = (accountId: string) => `¤${hash('sha256', accountId).slice(0, 16)}`;

/** Every term of a thread, in the scope of its owner and, if it is published, in that of its organization. */
export function scopedTerms({ thread, state, terms }: IndexedThread, start = ''): string {
  const { organizationId, userId, accountId, published } = thread;
  const scopes = [hashScope(organizationId, userId)];
  if (published) scopes.push(hashScope(organizationId));
  const all = new Set([anyThread, stateTerm(state)]);
  if (accountId !== null) all.add(accountTerm(accountId));
  for (const term of terms) {
    all.add(term);
    // Each after its first term, so that a long thread keeps those of its title.
    if (term.length >= beginningLength) all.add(beginningTerm(term.slice(0, beginningLength)));
  }
  const scoped: string[] = [];
  let length = 0;
  for (const term of all) {
    for (const scope of scopes) scoped.push(`${start}${scope}·${term}`);
    // A letter has up to four bytes.
    length += scopes.length * (scopeLength + 4 * term.length);
    if (length > termsLengthMax) break;
  }
  return scoped.join(' ');
}

/** How a database writes the parts of a query. The terms cannot end their quotes. */
export interface QueryDialect {
  readonly and: string;
  readonly or: string;
  readonly term: (term: string) => string;
  readonly prefix: (prefix: string) => string;
}

/** A query for each scope that the person may read: their own threads, and the published ones. */
export function matchTexts(
  organizationId: OrganizationId,
  { userId, scope, accountId, state, terms, last }: ThreadQuery,
  { and, or, term, prefix }: QueryDialect,
): string[] {
  const scopes: string[] = [];
  if (scope !== 'published') scopes.push(hashScope(organizationId, userId));
  if (scope !== 'mine') scopes.push(hashScope(organizationId));
  const needed = [...terms];
  if (state !== undefined) needed.push(stateTerm(state));
  if (accountId !== undefined) needed.push(accountTerm(accountId));
  const inScope = (name: string) => {
    const parts = needed.map((each) => term(`${name}·${each}`));
    if (last !== undefined) {
      const longer =
        last.prefix.length === beginningLength
          ? term(`${name}·${beginningTerm(last.prefix)}`)
          : prefix(`${name}·${last.prefix}`);
      parts.push(`(${term(`${name}·${last.term}`)}${or}${longer})`);
    }
    return parts.length === 0 ? term(`${name}·${anyThread}`) : parts.join(and);
  };
  return scopes.map((name) => `(${inScope(name)})`);
}

/** A condition on a found thread. The index may be a moment behind, and hashes may collide. */
export const isFound = sql`thread.organization_id = :organizationId AND thread.deleted_at IS NULL
  AND (thread.user_id = :userId AND :scope <> 'published' OR thread.published AND :scope <> 'mine')
  AND (thread.account_id = :accountId OR :accountId IS NULL)`;

/** The values of `isFound`. */
export function foundValues(organizationId: OrganizationId, query: ThreadQuery): Values {
  const { userId, scope = 'both', accountId } = query;
  return { organizationId, userId, scope, accountId: accountId ?? null };
}

/** Organizations take turns: each batch starts after the last one of the batch before. `take` returns them in order. */
export function takeInRotation(
  take: (after: string, limit: number) => Promise<UnindexedThread[]>,
): ThreadSearch['takeUnindexed'] {
  let after = '';
  return async (limit) => {
    let due = await take(after, limit);
    if (due.length === 0 && after !== '') due = await take('', limit);
    after = due.at(-1)?.organizationId ?? '';
    return due;
  };
}

// The latest status is read only if the thread has changed since it was indexed: usually the index knows the state.
const summarize = statement('summarize-threads')`SELECT thread.id, "user".email AS author, CASE
    WHEN EXISTS (SELECT 1 FROM message INDEXED BY message_running WHERE message.organization_id = :organizationId
      AND message.thread_id = thread.id AND ${isRunning}) THEN 'in_progress'
    WHEN thread_search.version = thread.version THEN thread_search.state
    WHEN ${ofLatest('assistant', sql`status`, sql`thread.id`)} = 'failed' THEN 'error' ELSE 'idle' END AS state,
    coalesce(thread_search.line, '') AS line
  FROM thread
  LEFT JOIN thread_search
    ON thread_search.organization_id = thread.organization_id AND thread_search.thread_id = thread.id
  LEFT JOIN member ON member.organization_id = thread.organization_id AND member.user_id = thread.user_id
  LEFT JOIN "user" ON "user".id = member.user_id
  WHERE thread.organization_id = :organizationId AND thread.id IN (
    SELECT entry.value ->> 'id' FROM json_each(:threads) AS entry)`;

export const threadSummaries = ({ read }: Transactions): ThreadSearch['summarizeThreads'] =>
  method(read, function* (organizationId, threadIds) {
    const threads = jsonRows(threadIds.map((id) => ({ id })));
    return yield* rows<ThreadSummary>(summarize, { organizationId, threads });
  });
