import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type Cell,
  type CredentialName,
  cellsOf,
  credentialNames,
  credentials,
  expectedOutcome,
  isWrite,
  nameOf,
  type Standing,
  standings,
} from './access-rules.ts';
import { AccessWorld, titleGivenBy } from './access-world.ts';
import type { Answer } from './conformance.ts';
import { describeOnEachEngine, partFor } from './engines.ts';

/** None of them may bring out a difference. */
const conditions: Record<string, string>[] = [
  {},
  { 'if-none-match': '*' },
  { prefer: 'wait=0' },
  { accept: 'text/html' },
];

describeOnEachEngine('The access matrix', (engine) => {
  let world: AccessWorld;
  let cellsHeld = 0;
  /** On PostgreSQL every fifth, and of each credential another fifth: all operations and kinds of thread are met. */
  const heldCells = (credential: CredentialName, standing: Standing): readonly Cell[] =>
    partFor(engine, cellsOf(credential, standing), 5, credentialNames.indexOf(credential));

  before(async () => {
    world = await AccessWorld.make(await engine.freshStore());
  });
  after(() => world.service.end());

  describe('A thread that may not be read', () => {
    for (const credential of live()) {
      it(`is answered exactly as one that does not exist when the credential is: ${credential}`, async () => {
        const api = world.apiOf(credential);
        const answers = async (id: string): Promise<string[]> => {
          const shown: string[] = [];
          for (const headers of conditions) {
            shown.push(essence(await api.call('GET', `/threads/${id}`, { headers })));
            shown.push(essence(await api.call('HEAD', `/threads/${id}`, { headers })));
          }
          shown.push(essence(await api.rename(id, 'Mine now')), essence(await api.delete(id)));
          shown.push(essence(await api.call('PATCH', `/threads/${id}`, { body: { title: '' } })));
          return shown;
        };
        const ofMissing = await answers(world.missingId);
        const hidden = cellsOf(credential, 'in the beta').filter(
          (cell) => cell.operation === 'get' && expectedOutcome(cell).status === 404,
        );
        // Deleted ones, those of the other organization, and what this principal may not read: 13 at least, with 2 that are none.
        assert.ok(hidden.length >= 15, `${hidden.length} are hidden`);
        for (const cell of hidden) assert.deepEqual(await answers(world.idOf(cell)), ofMissing, show(cell));
      });
    }
  });

  describe('with the organization in the beta', () => {
    for (const credential of credentialNames) {
      it(`holds for every operation and thread when the credential is: ${credential}`, async () => {
        const faults: string[] = [];
        let seen: Seen | undefined;
        for (const cell of heldCells(credential, 'in the beta')) {
          try {
            seen = await holdCell(world, cell, seen);
          } catch (error) {
            faults.push(`${show(cell)}: ${(error as Error).message}`);
            seen = undefined;
          }
          cellsHeld += 1;
        }
        assert.deepEqual(faults, []);
      });
    }

    for (const credential of live()) {
      it(`lists exactly what may be read when the credential is: ${credential}`, async () => {
        const expected = world.readableIds(credential);
        assert.ok(expected.length > 1);
        const listed = (await world.apiOf(credential).walk({ limit: 7 })).map(({ id }) => id);
        assert.deepEqual(listed.sort(), expected);
      });
    }
  });

  for (const standing of standings.filter((name) => name !== 'in the beta')) {
    describe(`with the organization ${standing}`, () => {
      let sawBefore: string;
      before(async () => {
        sawBefore = await world.fullSnapshot();
        await world.bringTo(standing);
      });

      for (const credential of credentialNames) {
        it(`refuses every operation when the credential is: ${credential}`, async () => {
          for (const cell of heldCells(credential, standing)) {
            assertOutcome(cell, await world.perform(cell));
            cellsHeld += 1;
          }
        });
      }

      it('changed nothing', async () => {
        await world.bringTo('in the beta');
        assert.equal(await world.fullSnapshot(), sawBefore);
      });
    });
  }

  it('was held in all cells that were to be held', () => {
    // 11 credentials, 3 standings, 8 operations, 16 kinds of thread and 2 ids of none.
    const cells = 11 * 3 * 8 * 18;
    if (engine.engine === 'SQLite') assert.equal(cellsHeld, cells);
    else assert.ok(cellsHeld > cells / 6);
  });

  it('contains each outcome, so that no rule goes untested', () => {
    const outcomes = (standing: Standing) =>
      new Set(
        credentialNames.flatMap((name) =>
          cellsOf(name, standing).map((cell) => expectedOutcome(cell).status),
        ),
      );
    assert.deepEqual([...outcomes('in the beta')].sort(), [200, 201, 400, 401, 403, 404]);
    assert.deepEqual([...outcomes('out of the beta')].sort(), [401, 404]);
    assert.deepEqual([...outcomes('out of quota')].sort(), [401, 429]);
  });
});

/** What was to be seen, of one thread with its messages among all, after the last refused write. */
interface Seen {
  readonly id: string;
  readonly snapshot: string;
}

/** The answer, what a success did, and that a refusal did nothing since `seen`. */
async function holdCell(world: AccessWorld, cell: Cell, seen: Seen | undefined): Promise<Seen | undefined> {
  const id = world.idOf(cell);
  const writes = isWrite(cell.operation);
  const sawBefore = seen?.id === id ? seen.snapshot : writes ? await world.snapshot(id) : '';
  const answer = await world.perform(cell);
  assertOutcome(cell, answer);
  if (answer.status < 400) {
    world.record(cell, answer);
    await assertEffect(world, cell, answer);
    return writes ? undefined : seen;
  }
  if (!writes) return seen;
  const snapshot = await world.snapshot(id);
  assert.equal(snapshot, sawBefore, 'a refused write changed something');
  return { id, snapshot };
}

function assertOutcome(cell: Cell, { status, body }: Answer): void {
  assert.deepEqual({ status, code: body.error?.code }, expectedOutcome(cell), show(cell));
}

async function assertEffect(world: AccessWorld, cell: Cell, { body }: Answer): Promise<void> {
  const api = world.apiOf(cell.credential);
  switch (cell.operation) {
    case 'create':
      assert.equal((await api.get(body.thread.id)).body.thread.published, false);
      break;
    case 'get':
      assert.equal(body.thread.id, world.idOf(cell));
      break;
    case 'list':
      assert.deepEqual(
        body.threads.map(({ id }: any) => id).sort(),
        world.readableIds(cell.credential, cell.target),
      );
      break;
    case 'rename':
      assert.equal((await api.get(world.idOf(cell))).body.thread.title, titleGivenBy(cell));
      break;
    case 'delete':
      assert.deepEqual(body, { id: world.idOf(cell), deleted: true });
      assert.equal((await api.get(world.idOf(cell))).status, 404);
      break;
    default:
      assert.fail(`${cell.operation} must not succeed`);
  }
}

/** The answer less what differs between any two requests. */
function essence({ status, headers, body }: Answer): string {
  const shown = [...headers].filter(([name]) => !['x-request-id', 'date', 'ratelimit'].includes(name));
  const error = body && { ...body.error, trace_id: undefined };
  return JSON.stringify([status, shown, error]);
}

function live(): CredentialName[] {
  return credentialNames.filter((name) => credentials[name] !== 'nobody');
}

function show({ credential, standing, operation, target }: Cell): string {
  return `${credential}, ${standing}, ${operation}: ${nameOf(target)}`;
}
