import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import fc from 'fast-check';
import { describeOnEachEngine } from '../../harness/world/engines.ts';
import { Playground } from './playground.ts';
import { showPage, threadCommands } from './thread-commands.ts';
import { organizationNames, type PrincipalName, type ThreadModel } from './thread-model.ts';

/** Operator commands take a quarter of a second each, so a run makes only a few and keeps its published threads. */
const operatorCallsPerRun = 1;

/** How long a failure is shrunk before it is reported. Without a failure, the runs take a tenth of this time. */
const timeLimitMs = 60_000;

const settings = [
  { title: 'with room for every thread', options: {}, numRuns: 8 },
  { title: 'with a window that most listings exceed', options: { window: 5 }, numRuns: 8 },
  {
    title: 'on a machine whose clock was set back by an hour',
    options: { behindMs: 3_600_000 },
    numRuns: 5,
  },
];

describeOnEachEngine('Any sequence of operations', ({ engine, freshStore }) => {
  let playground: Playground;
  before(async () => {
    playground = await Playground.make(await freshStore());
  });
  after(() => playground.end());
  const met = { renamedSince: 0, deletedSince: 0 };

  for (const { title, options, numRuns } of settings) {
    it(`matches the model, with every walk as of its start, ${title}`, async () => {
      await playground.restart(options);
      await fc.assert(
        fc.asyncProperty(threadCommands(90), async (commands) => {
          const model = await playground.freshModel(operatorCallsPerRun);
          await beginWalks(model, playground);
          await fc.asyncModelRun(() => ({ model, real: playground }), commands);
          await finishWalks(model, playground);
          await walkAll(model, playground);
        }),
        // Without bias, all lengths are equally likely; otherwise the first runs would be short.
        {
          numRuns: engine === 'SQLite' ? numRuns : Math.ceil(numRuns / 2),
          plugins: [fc.unbiased()],
          interruptAfterTimeLimit: timeLimitMs,
          markInterruptAsFailure: true,
        },
      );

      // A situation that never occurred was not tested.
      const { pages, renamedSince, deletedSince, truncated, whole } = playground.tally;
      assert.ok(pages > 10, `${pages} later pages`);
      assert.ok(whole > 0, `${whole} pages of listings that fit the window`);
      assert.equal(truncated > 0, 'window' in options, `${truncated} truncated pages`);
      met.renamedSince += renamedSince;
      met.deletedSince += deletedSince;
    });
  }

  it('included threads that were renamed or deleted after a walk started', () => {
    assert.ok(met.renamedSince > 3, `${met.renamedSince} pages with a thread renamed since the start`);
    assert.ok(met.deletedSince > 0, `${met.deletedSince} pages past a thread deleted since the start`);
  });
});

/** One walk for each principal, so that the first commands happen during a walk. */
async function beginWalks(model: ThreadModel, playground: Playground): Promise<void> {
  for (const principal of Object.keys(organizationNames) as PrincipalName[]) {
    await showPage(model, playground, model.begin({ principal, accountId: undefined }), 2);
  }
}

/** Completes all unfinished walks. */
async function finishWalks(model: ThreadModel, playground: Playground): Promise<void> {
  for (const cursor of [...model.cursors.slice(0, 3), ...model.cursors.slice(-3)]) {
    let next: typeof cursor | undefined = cursor;
    while (next !== undefined) next = await showPage(model, playground, next.walk, 3, next.text);
  }
}

async function walkAll(model: ThreadModel, playground: Playground): Promise<void> {
  for (const principal of Object.keys(organizationNames) as PrincipalName[]) {
    for (const accountId of [undefined, 'x']) {
      let next = await showPage(model, playground, model.begin({ principal, accountId }), 4);
      while (next !== undefined) next = await showPage(model, playground, next.walk, 100, next.text);
    }
  }
}
