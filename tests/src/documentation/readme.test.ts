import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { parseBlocks } from '../../harness/documents/markdown.ts';
import { transcript, withoutChance } from '../../harness/documents/transcript.ts';
import { cleanEnvironment, root, temporaryFolder } from '../../harness/service/service.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const tour = parseBlocks(readFileSync(join(root, 'docs/tour.md'), 'utf8'));
const start = 'npm ci && npm start';

describe('The README', () => {
  const environment = cleanEnvironment({
    SKEIN_PORT: '0',
    SKEIN_DATABASE_URL: `sqlite:${join(temporaryFolder(), 'skein.db')}`,
  });
  let service: ChildProcess | undefined;
  let greeting: string[];

  before(async () => {
    const commands = parseBlocks(readme).map(({ text }) => text.trim());
    assert.ok(commands.includes(start), `the README does not say '${start}'`);
    // A separate process group, so that a signal reaches the service behind npm and its shell.
    service = spawn('npm', ['start'], { cwd: root, env: environment, detached: true });
    process.once('exit', endService);
    service.once('exit', () => process.removeListener('exit', endService));
    greeting = await untilReady(service);
  });
  after(async () => {
    if (service === undefined || service.exitCode !== null) return;
    const ended = new Promise((resolve) => service?.once('close', resolve));
    endService();
    await ended;
  });
  function endService(): void {
    process.kill(-(service?.pid as number), 'SIGTERM');
  }

  it('links to a tour whose commands print the output that it shows', () => {
    const key = match(greeting, /^ {2}(eak_\w+)$/);
    const address = match(greeting, /"address":"([^"]+)"/);
    const commands = tour.filter(({ language }) => language === 'sh');
    assert.ok(commands.length >= 10, 'the tour has its commands');
    const [settings, ...steps] = commands.map(({ text }) => text);
    const pasted = [replaceSettings(settings as string, key, address), ...steps];
    assert.deepEqual(printed(pasted, address, environment), announced());
  });

  // After the tour, whose lists show only its own threads.
  it('shows commands that work once the key is pasted', () => {
    const address = match(greeting, /"address":"([^"]+)"/);
    const block = parseBlocks(readme).find(({ text }) => text.includes('eak_…'))!.text;
    const commands = block
      .replace('eak_…', match(greeting, /^ {2}(eak_\w+)$/))
      .replaceAll('http://127.0.0.1:8080', address);
    const env = { ...environment, SKEIN_BASE_URL: address };
    const { status, stdout, stderr } = spawnSync('sh', ['-ec', commands], {
      cwd: root,
      encoding: 'utf8',
      env,
    });
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /"title":"What is a skein\?".*A skein is /s);
  });

  it('shows a greeting whose curl line works when pasted', () => {
    const line = match(greeting, /^ {2}(curl .*)$/);
    const { stdout } = spawnSync('sh', ['-c', line], { encoding: 'utf8', env: environment });
    assert.match(JSON.parse(stdout).thread.id, /^thr_/);
  });
});

/** The only change that a newcomer makes before pasting. */
function replaceSettings(block: string, key: string, address: string): string {
  assert.ok(block.includes('KEY=eak_…\n'), 'the tour asks for the key');
  assert.ok(block.includes('API=http://127.0.0.1:8080/'), 'the tour names the default address');
  return block.replace('eak_…', key).replace('http://127.0.0.1:8080', address);
}

/** The output of each block, with random values replaced. */
function printed(blocks: string[], address: string, env: NodeJS.ProcessEnv): unknown[] {
  const [settings, ...outputs] = transcript(blocks, root, env);
  assert.equal(settings, '', 'the settings print nothing');
  return withoutChance(outputs.map((text) => text.replaceAll(address, 'http://127.0.0.1:8080')));
}

/** The output that the tour shows for each block. */
function announced(): unknown[] {
  const outputs = tour.slice(1).filter((_, index) => index % 2 === 1);
  assert.ok(
    outputs.every(({ language }) => language === 'text' || language === 'json'),
    'each block of commands is followed by its output',
  );
  return withoutChance(outputs.map(({ text }) => text));
}

function match(lines: string[], pattern: RegExp): string {
  const found = lines.map((line) => pattern.exec(line)?.[1]).find((part) => part !== undefined);
  assert.ok(found, `npm start printed nothing like ${pattern}:\n${lines.join('\n')}`);
  return found;
}

function untilReady(child: ChildProcess): Promise<string[]> {
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream as NodeJS.ReadableStream }).on('line', (line) => {
        lines.push(line);
        if (line.includes('"msg":"ready"')) resolve(lines);
      });
    }
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}:\n${lines.join('\n')}`)));
  });
}
