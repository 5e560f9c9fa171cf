import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parseBlocks, tableRows } from '../../harness/documents/markdown.ts';
import { cleanEnvironment, root } from '../../harness/service/service.ts';
import { makeApplication } from '../../harness/world/applications.ts';
import { createThread, startWorld, type World } from '../../harness/world/world.ts';
import { consumerProject, packedClient } from './packed.ts';

const run = promisify(execFile);
const readme = readFileSync(join(root, 'client/README.md'), 'utf8');
const samples = parseBlocks(readme).filter(({ language }) => language === 'ts');

describe("The client's README", () => {
  let world: World;
  let project: string;
  before(async () => {
    world = await startWorld({ SKEIN_MODEL: 'extractive' });
    const document = join(world.service.folder, 'returns.md');
    writeFileSync(document, '# Returns\n\nYou have thirty days to return yarn.\n');
    await world.service.skein('doc', 'add', world.acme, document);
    project = await consumerProject();
  });
  after(() => world.end());

  it('has samples that compile and do what it says', async () => {
    assert.equal(samples.length, 5);
    const { thread } = await createThread(world.ada, { title: 'A published thread' });
    await world.publish(thread.id);
    const { clientId, clientSecret } = await makeApplication(world.service, world.acme);
    const program = samples.map(({ text }) => text).join('\n');
    assert.ok(program.includes('timeoutMs: 60_000'));
    // A timeout of 1 ms makes the call fail on purpose.
    writeFileSync(join(project, 'readme.ts'), program.replace('timeoutMs: 60_000', 'timeoutMs: 1'));
    const settings = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
    const words = [...settings, '--typeRoots', join(root, 'node_modules/@types'), '--ignoreConfig'];
    await run(join(root, 'node_modules/.bin/tsc'), [...words, 'readme.ts'], { cwd: project });
    const { stdout } = await run(process.execPath, ['readme.js'], {
      cwd: project,
      env: cleanEnvironment({
        SKEIN_BASE_URL: world.service.baseUrl,
        SKEIN_API_KEY: world.adaKey.key,
        SKEIN_CLIENT_ID: clientId,
        SKEIN_CLIENT_SECRET: clientSecret,
      }),
    });
    const printed = [
      /^(… .+\n)+/,
      /^\*\*You have thirty days to return yarn\.\*\* \[1\]$/m,
      /^returns.*: .*thirty days/im,
      /^idle 2$/m,
      /^thr_\w{26} Where is my order\?$/m,
      /^4 null false$/m,
      /^A published thread$/m,
      /^TIMEOUT undefined (undefined|thr_\w{26})$/m,
    ];
    for (const line of printed) assert.match(stdout, line);
  });

  it('lists every error class', async () => {
    const client = await packedClient();
    const classes = Object.keys(client).filter((name) => name.endsWith('Error') && name !== 'SkeinError');
    assert.ok(classes.length > 8);
    const listed = tableRows(readme).map(([name]) => name);
    assert.deepEqual([...listed].sort(), classes.sort());
  });
});
