import { type Call, type Credential, type History, isUnknown, type SeenReply } from './history.ts';
import { absent, deleted, isLinearizable, type Operation } from './linearizable.ts';

type CallOf<Kind extends Call['kind']> = Extract<Call, { kind: Kind }>;

/** What the calls of one round say about one thread. */
interface ThreadHistory {
  readonly id: string;
  readonly owner: Credential;
  readonly created: CallOf<'create'>;
  readonly calls: readonly (CallOf<'get'> | CallOf<'rename'> | CallOf<'delete'>)[];
  /** Pages show its title, too. */
  readonly listed: readonly Operation[];
}

/** Every promise that the history breaks, as sentences. */
export function findViolations(history: History): string[] {
  const threads = groupThreads(history);
  return [
    ...threads.flatMap(checkValue),
    ...threads.flatMap(checkReply),
    ...checkWalks(history, threads),
    ...checkTenants(history, threads),
    ...checkRevocations(history),
    ...checkQuotas(history),
    ...checkErrors(history),
  ];
}

/** Threads by id. A create whose response was lost is known by its title, which no other create uses. */
function groupThreads({ calls }: History): ThreadHistory[] {
  const listed = new Map<string, Operation[]>();
  const idsByTitle = new Map<string, string>();
  for (const call of calls) {
    if (call.kind !== 'page') continue;
    for (const { id, title } of call.threads) {
      idsByTitle.set(createdTitle(title), id);
      const reads = listed.get(id) ?? [];
      reads.push({ kind: 'read', value: title, ...toSpan(call) });
      listed.set(id, reads);
    }
  }
  const changes = Map.groupBy(
    calls.filter((call) => call.kind === 'get' || call.kind === 'rename' || call.kind === 'delete'),
    ({ id }) => id,
  );
  const attempts = Map.groupBy(
    calls.filter((call) => call.kind === 'create'),
    ({ title }) => title,
  );
  return [...attempts.values()].flatMap((ofTitle) => {
    const created = wholeCreate(ofTitle);
    const id = created.id ?? idsByTitle.get(created.title);
    if (id === undefined) return [];
    const owner = created.credential;
    return [{ id, owner, created, calls: changes.get(id) ?? [], listed: listed.get(id) ?? [] }];
  });
}

/** A create and its retries are one call that lasts until the first response. */
function wholeCreate(attempts: readonly CallOf<'create'>[]): CallOf<'create'> {
  const first = attempts[0]!;
  const answered = attempts.find(({ status }) => status === 201);
  return { ...(answered ?? first), startedAt: first.startedAt };
}

/** The title that a thread was created with: a rename appends to it. */
function createdTitle(title: string): string {
  return title.split(',')[0]!;
}

function isRejected({ status }: Call): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

/** Title and deletion of a thread behave like one value that every call reads or changes at one moment. */
function checkValue({ id, owner, created, calls, listed }: ThreadHistory): string[] {
  const operations: Operation[] = [
    { kind: 'write', value: created.title, ...toSpan(created), isUncertain: created.status !== 201 },
    ...listed,
  ];
  for (const call of calls) {
    if (call.credential.user !== owner.user) continue;
    const span = toSpan(call);
    if (call.status === 404) operations.push({ kind: 'read', value: deleted, ...span });
    else if (call.kind === 'get') {
      if (call.seen !== undefined) operations.push({ kind: 'read', value: call.seen.title, ...span });
    } else if (call.status === 200 || isUnknown(call)) {
      const value = call.kind === 'delete' ? deleted : call.title;
      operations.push({ kind: 'write', value, ...span, isUncertain: isUnknown(call) });
    }
  }
  if (isLinearizable(operations)) return [];
  return [`${id}: no order of these calls explains them:\n${describeOperations(operations)}`];
}

function toSpan({ startedAt, endedAt }: Call): { startedAt: number; endedAt: number } {
  return { startedAt, endedAt };
}

function describeOperations(operations: readonly Operation[]): string {
  return operations
    .toSorted((one, other) => one.startedAt - other.startedAt)
    .map(({ kind, value, startedAt, endedAt, isUncertain }) => {
      const times = `${startedAt.toFixed(1)}–${endedAt.toFixed(1)}`;
      return `  ${times} ${kind} ${value === absent ? 'nothing' : value}${isUncertain ? ' (unknown)' : ''}`;
    })
    .join('\n');
}

/** A running reply shows a beginning of its text. A finished one has the whole text and never changes again. */
function checkReply({ id, created, calls }: ThreadHistory): string[] {
  const violations: string[] = [];
  let ended: { at: number; reply: SeenReply } | undefined;
  const reads = calls.filter((call) => call.kind === 'get').filter(({ seen }) => seen !== undefined);
  for (const { startedAt, endedAt, seen } of reads.toSorted((one, other) => one.endedAt - other.endedAt)) {
    const { reply } = seen!;
    if (!created.reply.startsWith(reply.content)) violations.push(`${id}: foreign text: ${reply.content}`);
    if (ended !== undefined && startedAt > ended.at && !isSame(reply, ended.reply))
      violations.push(`${id}: changed after its end: ${JSON.stringify([ended.reply, reply])}`);
    if (reply.completedAt === null) continue;
    if (reply.status !== 'completed' || reply.content !== created.reply)
      violations.push(`${id}: ended as ${reply.status} with ${JSON.stringify(reply.content)}`);
    ended ??= { at: endedAt, reply };
  }
  const mayBeDeleted = calls.some((call) => call.kind === 'delete' && !isRejected(call));
  if (!mayBeDeleted && ended === undefined) violations.push(`${id}: the reply never ended`);
  return violations;
}

function isSame(one: SeenReply, other: SeenReply): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A walk shows every thread that exists at its start and is not deleted meanwhile, once, in the order of its start. */
function checkWalks({ calls }: History, threads: readonly ThreadHistory[]): string[] {
  const walks = Map.groupBy(
    calls.filter((call) => call.kind === 'page').filter(({ status }) => status === 200),
    ({ walk }) => walk,
  );
  const byUser = Map.groupBy(threads, ({ owner }) => owner.user);
  return [...walks.values()].flatMap((pages) =>
    checkWalk(pages, byUser.get(pages[0]!.credential.user) ?? []),
  );
}

function checkWalk(pages: readonly CallOf<'page'>[], threads: readonly ThreadHistory[]): string[] {
  const [first, last] = [pages[0]!, pages.at(-1)!];
  const shown = pages.flatMap(({ threads: page }) => page);
  const ids = new Set(shown.map(({ id }) => id));
  const violations: string[] = [];
  const name = `walk ${first.walk}`;
  if (ids.size < shown.length) violations.push(`${name} shows a thread twice`);
  const unchanged = new Set<string>();
  for (const { id, created, calls } of threads) {
    const removals = calls.filter((call) => call.kind === 'delete' && !isRejected(call));
    const wasThere = created.status === 201 && created.endedAt < first.startedAt;
    const mayBeGone = removals.some(({ startedAt }) => startedAt < last.endedAt);
    const isGone = removals.some((call) => call.status === 200 && call.endedAt < first.startedAt);
    if (last.isLast && wasThere && !mayBeGone && !ids.has(id)) violations.push(`${name} skips ${id}`);
    if (created.startedAt > first.endedAt && ids.has(id)) violations.push(`${name} shows the later ${id}`);
    if (isGone && ids.has(id)) violations.push(`${name} shows the deleted ${id}`);
    const isRenamedMeanwhile = calls.some(
      (call) =>
        call.kind === 'rename' && !isRejected(call) && (isUnknown(call) || call.endedAt > first.startedAt),
    );
    if (!isRenamedMeanwhile) unchanged.add(id);
  }
  const ordered = shown.filter(({ id }) => unchanged.has(id));
  const misplaced = ordered.find(
    ({ activity }, place) => place > 0 && activity > ordered[place - 1]!.activity,
  );
  if (misplaced !== undefined) violations.push(`${name} shows ${misplaced.id} out of order`);
  return violations;
}

/** A caller sees the threads of its own user and no others, and no thread that nobody created. */
function checkTenants({ calls }: History, threads: readonly ThreadHistory[]): string[] {
  const ownersById = new Map(threads.map(({ id, owner }) => [id, owner.user]));
  return calls.flatMap((call) => {
    const { user } = call.credential;
    if (call.kind === 'page')
      return call.threads
        .filter(({ id }) => ownersById.get(id) !== user)
        .map(({ id }) => `${user} lists ${id}, which ${ownersById.get(id) ?? 'nobody'} created`);
    if (call.kind === 'create' || call.status !== 200 || ownersById.get(call.id) === user) return [];
    return [`${user} may ${call.kind} ${call.id} of ${ownersById.get(call.id) ?? 'nobody'}`];
  });
}

/** After a revocation was acknowledged, the key gets 401. Before it was requested, the key works. */
function checkRevocations({ calls, revocations }: History): string[] {
  const revoked = new Map(revocations.map((revocation) => [revocation.credential.keyId, revocation]));
  return calls.flatMap(({ credential: { keyId }, kind, status, startedAt, endedAt }) => {
    const revocation = revoked.get(keyId);
    if (status === 401 && (revocation === undefined || endedAt < revocation.startedAt))
      return [`${kind} with ${keyId} got 401 although the key was valid`];
    const isTooLate = revocation !== undefined && startedAt > revocation.endedAt;
    if (isTooLate && status !== undefined && status < 500 && status !== 401)
      return [`${kind} with ${keyId} got ${status} after the key was revoked`];
    return [];
  });
}

/** PostgreSQL writes a commit that nobody waits for to its log within three times 200 ms. */
const unsyncedMsMax = 1000;

/**
 * No more requests than the quota are served, and none is refused while the quota lasts. The counts of the last requests
 * before a database server died may be lost with it.
 */
function checkQuotas({ calls, outages, quotas }: History): string[] {
  const losses = outages.filter(({ losesCounts }) => losesCounts);
  return [...quotas].flatMap(([organization, { limit, until }]) => {
    const ofOrganization = calls.filter(
      ({ credential, endedAt }) => credential.organization === organization && endedAt < until,
    );
    const served = new Set(ofOrganization.filter((call) => !isUnknown(call) && !isUncounted(call)));
    const kept = [...served].filter(
      ({ startedAt, endedAt }) =>
        !losses.some((loss) => endedAt > loss.startedAt - unsyncedMsMax && startedAt < loss.endedAt),
    );
    const violations = kept.length > limit ? [`${kept.length} requests served with a quota of ${limit}`] : [];
    for (const { status, endedAt } of ofOrganization) {
      if (status !== 429) continue;
      const counted = ofOrganization.filter(
        (call) => call.startedAt < endedAt && (isUnknown(call) || served.has(call)),
      );
      if (counted.length < limit) violations.push(`429 after ${counted.length} of ${limit} requests`);
    }
    return violations;
  });
}

function isUncounted({ status }: Call): boolean {
  return status === 401 || status === 429;
}

/** Requests fail only while something is broken. */
function checkErrors({ calls, outages }: History): string[] {
  return calls
    .filter(isUnknown)
    .filter(
      (call) => !outages.some((outage) => call.startedAt < outage.endedAt && call.endedAt > outage.startedAt),
    )
    .map(({ kind, status, startedAt, endedAt, failure }) => {
      const before = outages.findLast((outage) => outage.endedAt <= startedAt);
      const since =
        before === undefined ? '' : `, ${(startedAt - before.endedAt).toFixed()} ms after: ${before.fault}`;
      return `${kind} got ${status ?? failure} outside an outage in ${(endedAt - startedAt).toFixed()} ms${since}`;
    });
}
