import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import { assertShows, type Playground } from './playground.ts';
import {
  type ModelThread,
  type ModelWalk,
  organizationNames,
  type PrincipalName,
  type ThreadModel,
} from './thread-model.ts';

type Command = fc.AsyncCommand<ThreadModel, Playground, boolean>;
type Run = (model: ThreadModel, playground: Playground) => Promise<void>;

const principals = fc.constantFrom<PrincipalName>('ada', 'ben', 'service', 'carol');
/** Usually the owner. All others must be rejected. */
const actors = fc.oneof({ weight: 3, arbitrary: fc.constant('owner' as const) }, principals);
const accounts = fc.constantFrom(undefined, undefined, 'x', 'y');
const limits = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) },
  fc.integer({ min: 1, max: 100 }),
);
const index = fc.nat(9_999);

/** Random sequences of actions by callers and operators. */
export function threadCommands(maxCommands: number): fc.Arbitrary<Iterable<Command>> {
  const create = fc
    .record({ principal: principals, accountId: accounts, key: fc.option(fc.nat(1), { freq: 3 }) })
    .map((given) => command(`create ${JSON.stringify(given)}`, createThread(given)));
  const onThread = (name: string, run: (given: OnThread) => Run) =>
    fc
      .record({ actor: actors, index })
      .map((given) => command(`${name} ${JSON.stringify(given)}`, run(given)));
  const begin = fc
    .record({ principal: principals, accountId: accounts, limit: limits })
    .map((given) => command(`begin ${JSON.stringify(given)}`, beginWalk(given)));
  const proceed = fc
    .record({ index, limit: limits })
    .map((given) => command(`proceed ${JSON.stringify(given)}`, proceedWalk(given), hasCursor));
  const astray = fc
    .record({ index, principal: principals, accountId: accounts })
    .map((given) => command(`use another's cursor ${JSON.stringify(given)}`, useElsewhere(given), hasCursor));
  const toggle = index.map((given) =>
    command(`publish or unpublish ${given}`, togglePublished(given), mayOperate),
  );

  return fc.commands<ThreadModel, Playground, boolean>(
    [
      create,
      create,
      onThread('rename', renameThread),
      onThread('rename', renameThread),
      onThread('delete', deleteThread),
      onThread('delete', deleteThread),
      onThread('get', getThread),
      begin,
      begin,
      proceed,
      proceed,
      proceed,
      proceed,
      astray,
      toggle,
    ],
    { maxCommands, size: 'max' },
  );
}

function command(name: string, run: Run, check: (model: ThreadModel) => boolean = () => true): Command {
  return { check, run, toString: () => name };
}

const hasCursor = ({ cursors }: ThreadModel) => cursors.length > 0;
const mayOperate = ({ operatorCallsLeft }: ThreadModel) => operatorCallsLeft > 0;

interface Creation {
  readonly principal: PrincipalName;
  readonly accountId: string | undefined;
  readonly key: number | null;
}

const createThread =
  ({ principal, accountId, key }: Creation): Run =>
  async (model, playground) => {
    const body = { prompt: 'Anything new?', ...(accountId !== undefined && { accountId }) };
    const idempotencyKey = `${playground.runName} ${key}`;
    const answer = await playground.apis[principal].create(
      body,
      key === null ? {} : { 'idempotency-key': idempotencyKey },
    );
    if (principal === 'service') return assertRefused(answer, 403, 'FORBIDDEN');

    const name = `${principal} ${key}`;
    const earlier = key === null ? undefined : model.idempotent.get(name);
    if (earlier !== undefined && earlier.body !== JSON.stringify(body)) {
      return assertRefused(answer, 400, 'INVALID_PARAMS');
    }
    assert.equal(answer.status, 201);
    if (earlier !== undefined) {
      assert.equal(answer.body.thread.id, earlier.id, 'the same key and body answer with the same id');
      return;
    }
    const { thread } = answer.body;
    assert.ok(!model.threads.has(thread.id), 'a new thread has a new id');
    const created = playground.note(thread, { owner: principal, organization: organizationNames[principal] });
    model.threads.set(thread.id, created);
    assert.equal(thread.updatedAt, null);
    assert.ok(model.isOnTop(created), 'a new thread is first in the list');
    if (key !== null) model.idempotent.set(name, { body: JSON.stringify(body), id: thread.id });
  };

interface OnThread {
  readonly actor: PrincipalName | 'owner';
  readonly index: number;
}

function find(model: ThreadModel, { actor, index }: OnThread) {
  const thread = model.pick(index);
  return { thread, principal: actor === 'owner' ? thread.owner : actor };
}

const renameThread =
  (given: OnThread): Run =>
  async (model, { apis }) => {
    const { thread, principal } = find(model, given);
    const title = `Title ${given.index}`;
    const answer = await apis[principal].rename(thread.id, title);
    if (refusedAsItShould(model, principal, thread, answer)) return;
    const { updatedAt } = answer.body.thread;
    model.change(thread.id, { title, updatedAt });
    assertShows(answer.body.thread, model.threads.get(thread.id) as ModelThread);
    assert.ok(
      model.isOnTop(model.threads.get(thread.id) as ModelThread),
      'a renamed thread moves to the top',
    );
  };

const deleteThread =
  (given: OnThread): Run =>
  async (model, { apis }) => {
    const { thread, principal } = find(model, given);
    // Replacing a published thread needs the operator's command.
    if (thread.published && thread.owner === principal && !thread.deleted) {
      if (model.operatorCallsLeft === 0) return;
      model.operatorCallsLeft -= 1;
    }
    const answer = await apis[principal].delete(thread.id);
    if (refusedAsItShould(model, principal, thread, answer)) return;
    assert.deepEqual(answer.body, { id: thread.id, deleted: true });
    model.change(thread.id, { deleted: true });
  };

function refusedAsItShould(
  model: ThreadModel,
  principal: PrincipalName,
  thread: ModelThread,
  answer: ApiResponse,
): boolean {
  if (principal === 'service') assertRefused(answer, 403, 'FORBIDDEN');
  else if (!model.canRead(principal, thread)) assertRefused(answer, 404, 'NOT_FOUND');
  else if (thread.owner !== principal) assertRefused(answer, 403, 'FORBIDDEN');
  else {
    assert.equal(answer.status, 200);
    return false;
  }
  return true;
}

const getThread =
  (given: OnThread): Run =>
  async (model, { apis }) => {
    const { thread, principal } = find(model, given);
    const answer = await apis[principal].get(thread.id);
    if (!model.canRead(principal, thread)) return assertRefused(answer, 404, 'NOT_FOUND');
    assert.equal(answer.status, 200);
    assertShows(answer.body.thread, thread);
  };

const togglePublished =
  (index: number): Run =>
  async (model, playground) => {
    const thread = model.pick(index);
    if (thread.deleted) return;
    model.operatorCallsLeft -= 1;
    await playground.publish(thread, !thread.published);
    model.change(thread.id, { published: !thread.published });
  };

interface Beginning {
  readonly principal: PrincipalName;
  readonly accountId: string | undefined;
  readonly limit: number;
}

const beginWalk =
  ({ principal, accountId, limit }: Beginning): Run =>
  async (model, playground) => {
    await showPage(model, playground, model.begin({ principal, accountId }), limit);
  };

const proceedWalk =
  ({ index, limit }: { index: number; limit: number }): Run =>
  async (model, playground) => {
    const { walk, text } = model.cursors[index % model.cursors.length]!;
    await showPage(model, playground, walk, limit, text);
  };

/** Requests a page, compares it with the model, and returns the cursor of the next page. */
export async function showPage(
  model: ThreadModel,
  playground: Playground,
  walk: ModelWalk,
  limit: number,
  cursor?: string,
): Promise<{ walk: ModelWalk; text: string } | undefined> {
  const { principal, accountId } = walk;
  const { status, body } = await playground.apis[principal].list({
    limit,
    ...(accountId !== undefined && { accountId }),
    ...(cursor !== undefined && { cursor }),
  });
  assert.equal(status, 200);
  const after = model.judge(walk, limit, body);
  for (const shown of body.threads) assertShows(shown, model.threads.get(shown.id) as ModelThread);
  count(model, playground, walk, after);
  if (body.nextCursor === null) return undefined;
  const next = { walk: after, text: body.nextCursor };
  model.cursors.push(next);
  return next;
}

function count(model: ThreadModel, { tally }: Playground, before: ModelWalk, after: ModelWalk): void {
  tally[before.truncated ? 'truncated' : 'whole'] += 1;
  if (before.passed === 0) return;
  tally.pages += 1;
  const order = model.begin(before).order;
  const passed = before.order.slice(before.passed, after.passed).map((id) => model.threads.get(id)!);
  const visible = passed.filter((thread) => model.canRead(before.principal, thread));
  if (passed.some(({ deleted, id }) => deleted && before.visibleAtStart.has(id))) tally.deletedSince += 1;
  if (visible.some(({ id }) => order.indexOf(id) < before.order.indexOf(id))) tally.renamedSince += 1;
  const changed = (thread: ModelThread) =>
    !thread.deleted && model.canRead(before.principal, thread) !== before.visibleAtStart.has(thread.id);
  if (passed.some(changed)) tally.publicationChanged += 1;
}

const useElsewhere =
  ({ index, principal, accountId }: Omit<Beginning, 'limit'> & { index: number }): Run =>
  async (model, { apis }) => {
    const { walk, text } = model.cursors[index % model.cursors.length]!;
    if (walk.principal === principal && walk.accountId === accountId) return;
    const query = { cursor: text, ...(accountId !== undefined && { accountId }) };
    assertRefused(await apis[principal].list(query), 400, 'INVALID_PARAMS');
  };

function assertRefused({ status, body }: ApiResponse, expectedStatus: number, code: string): void {
  assert.deepEqual({ status, code: body.error?.code }, { status: expectedStatus, code });
}
