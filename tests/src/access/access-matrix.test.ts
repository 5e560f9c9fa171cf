import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import { describeOnEachEngine, partFor } from '../../harness/world/engines.ts';
import {
  type Cell,
  type CredentialName,
  credentialNames,
  credentials,
  expectedOutcome,
  formatTarget,
  listCells,
  type Standing,
  standings,
} from './access-rules.ts';
import { AccessWorld, titleGivenBy } from './access-world.ts';

/** None of these headers may reveal a difference. */
const conditions: Record<string, string>[] = [
  {},
  { 'if-none-match': '*' },
  { prefer: 'wait=0' },
  { accept: 'text/html' },
];

describeOnEachEngine('The access matrix', (engine) => {
  let world: AccessWorld;
  let checkedCells = 0;
  /** On PostgreSQL every fifth cell, a different fifth for each credential, so that each operation and kind of thread occurs. */
  const cellsToCheck = (credential: CredentialName, standing: Standing): readonly Cell[] =>
    partFor(engine, listCells(credential, standing), 5, credentialNames.indexOf(credential));

  before(async () => {
    world = await AccessWorld.make(await engine.sharedStore());
  });

  describe('A thread that the caller may not read', () => {
    for (const credential of live()) {
      it(`gets the same response as a missing thread when the credential is: ${credential}`, async () => {
        const api = world.createApi(credential);
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
        const hidden = listCells(credential, 'with the API').filter(
          (cell) => cell.operation === 'get' && expectedOutcome(cell).status === 404,
        );
        // Deleted, foreign and unreadable threads for this principal: at least 13, plus 2 ids without a thread.
        assert.ok(hidden.length >= 15, `${hidden.length} are hidden`);
        await checkEach(hidden, async (cell) =>
          assert.deepEqual(await answers(world.findId(cell)), ofMissing, show(cell)),
        );
      });
    }
  });

  describe('with the public API enabled', () => {
    for (const credential of credentialNames) {
      it(`gives the expected result for every operation and thread when the credential is: ${credential}`, async () => {
        const cells = cellsToCheck(credential, 'with the API');
        const [allowed, refused] = partition(cells, (cell) => expectedOutcome(cell).code === undefined);
        const faults: string[] = [];
        const check = async (cell: Cell): Promise<void> => {
          try {
            await checkCell(world, cell);
          } catch (error) {
            faults.push(`${show(cell)}: ${(error as Error).message}`);
          }
          checkedCells += 1;
        };
        const before = await world.snapshot();
        await checkEach(refused, check);
        // Every cell that writes includes its name in the written text, so that a difference shows which cell caused
        // it.
        assert.equal(await world.snapshot(), before, 'a refused request changed something');
        for (const cell of allowed) await check(cell);
        assert.deepEqual(faults, []);
      });
    }

    for (const credential of live()) {
      it(`lists exactly the readable threads when the credential is: ${credential}`, async () => {
        const expected = world.readableIds(credential);
        assert.ok(expected.length > 1);
        const listed = (await world.createApi(credential).walk({ limit: 7 })).map(({ id }) => id);
        assert.deepEqual(listed.sort(), expected);
      });
    }
  });

  for (const standing of standings.filter((name) => name !== 'with the API')) {
    describe(`with the organization ${standing}`, () => {
      let sawBefore: string;
      before(async () => {
        sawBefore = await world.snapshot();
        await world.bringTo(standing);
      });

      for (const credential of credentialNames) {
        it(`rejects every operation when the credential is: ${credential}`, async () => {
          await checkEach(cellsToCheck(credential, standing), async (cell) => {
            assertOutcome(cell, await world.perform(cell));
            checkedCells += 1;
          });
        });
      }

      it('changed nothing', async () => {
        await world.bringTo('with the API');
        assert.equal(await world.snapshot(), sawBefore);
      });
    });
  }

  it('was checked in all cells', () => {
    // 11 credentials, 3 standings, 8 operations, 16 kinds of thread and 2 ids without a thread.
    const cells = 11 * 3 * 8 * 18;
    if (engine.engine === 'SQLite') assert.equal(checkedCells, cells);
    else assert.ok(checkedCells > cells / 6);
  });

  it('contains every outcome, so that no rule is untested', () => {
    const outcomes = (standing: Standing) =>
      new Set(
        credentialNames.flatMap((name) =>
          listCells(name, standing).map((cell) => expectedOutcome(cell).status),
        ),
      );
    assert.deepEqual([...outcomes('with the API')].sort(), [200, 201, 400, 401, 403, 404]);
    assert.deepEqual([...outcomes('without the API')].sort(), [401, 404]);
    assert.deepEqual([...outcomes('out of quota')].sort(), [401, 429]);
  });
});

/** Checks the response, and the effect of an operation that succeeded. */
async function checkCell(world: AccessWorld, cell: Cell): Promise<void> {
  const answer = await world.perform(cell);
  assertOutcome(cell, answer);
  if (answer.status >= 400) return;
  world.record(cell, answer);
  await assertEffect(world, cell, answer);
}

function assertOutcome(cell: Cell, { status, body }: ApiResponse): void {
  assert.deepEqual({ status, code: body.error?.code }, expectedOutcome(cell), show(cell));
}

async function assertEffect(world: AccessWorld, cell: Cell, { body }: ApiResponse): Promise<void> {
  const api = world.createApi(cell.credential);
  switch (cell.operation) {
    case 'create':
      assert.equal((await api.get(body.thread.id)).body.thread.published, false);
      break;
    case 'get':
      assert.equal(body.thread.id, world.findId(cell));
      break;
    case 'list':
      assert.deepEqual(
        body.threads.map(({ id }: any) => id).sort(),
        world.readableIds(cell.credential, cell.target),
      );
      break;
    case 'rename':
      assert.equal((await api.get(world.findId(cell))).body.thread.title, titleGivenBy(cell));
      break;
    case 'delete':
      assert.deepEqual(body, { id: world.findId(cell), deleted: true });
      assert.equal((await api.get(world.findId(cell))).status, 404);
      break;
    default:
      assert.fail(`${cell.operation} must not succeed`);
  }
}

/** The response without the parts that differ between any two requests. */
function essence({ status, headers, body }: ApiResponse): string {
  const shown = [...headers].filter(([name]) => !['x-request-id', 'date', 'ratelimit'].includes(name));
  const error = body && { ...body.error, trace_id: undefined };
  return JSON.stringify([status, shown, error]);
}

/** Sixteen at a time, because they are independent. */
async function checkEach<T>(all: readonly T[], check: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += 16) await Promise.all(all.slice(from, from + 16).map(check));
}

function partition<T>(all: readonly T[], belongs: (one: T) => boolean): [T[], T[]] {
  return [all.filter(belongs), all.filter((one) => !belongs(one))];
}

function live(): CredentialName[] {
  return credentialNames.filter((name) => credentials[name] !== 'nobody');
}

function show({ credential, standing, operation, target }: Cell): string {
  return `${credential}, ${standing}, ${operation}: ${formatTarget(target)}`;
}
