import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findSection, parseBlocks } from '../../harness/documents/markdown.ts';
import { CodeCoverage } from '../../harness/service/code-coverage.ts';
import { root } from '../../harness/service/service.ts';
import { createThread, startWorld, type World } from '../../harness/world/world.ts';

const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

function listFiles(heading: string): string[] {
  const [list] = parseBlocks(findSection(architecture, heading));
  const files = list?.text.match(/^\S+\.ts/gm) ?? [];
  return files.map((file) => `server/src/${file}`);
}

describe('ARCHITECTURE.md lists files whose code runs', () => {
  let world: World;
  let coverage: CodeCoverage;
  let threadId: string;
  before(async () => {
    world = await startWorld({ NODE_OPTIONS: '--inspect=127.0.0.1:0' });
    coverage = await CodeCoverage.start(world.service);
    // What is done once is done before the first look.
    const { thread } = await createThread(world.ada);
    threadId = thread.id;
    await world.ada.untilDone(threadId);
  });
  after(async () => {
    coverage.end();
    await world.end();
  });

  const requests = {
    '## How a read works: `GET /api/v1/threads/{id}`': () => world.ada.get(threadId),
    '## How a write works: `POST /api/v1/threads`': () => createThread(world.ada),
  };
  for (const [heading, send] of Object.entries(requests)) {
    it(heading.slice(3), async (t) => {
      const listed = listFiles(heading);
      assert.ok(listed.length > 5, 'the section lists no files');
      const ran = await coverage.during(send);
      assert.deepEqual(
        listed.filter((file) => !ran.has(file)),
        [],
        'these did not run',
      );
      for (const file of listed)
        assert.ok(readFileSync(join(root, file), 'utf8').split('\n').length <= 401, `${file} is too long`);
      t.diagnostic(`${ran.size} files in all`);
    });
  }
});
