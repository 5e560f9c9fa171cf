import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type Block, findSection, parseBlocks } from '../../harness/documents/markdown.ts';
import { pathWithNpx, writeNpx } from '../../harness/documents/stage.ts';
import { Api } from '../../harness/http/api.ts';
import { type CommandOutcome, cleanEnvironment, root, Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { hire, makeMember } from '../../harness/world/tenants.ts';

const examples = readdirSync(join(root, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe('The examples', { concurrency: 2 }, () => {
  it('all exist, and are short', () => {
    assert.deepEqual(examples.sort(), ['bulk-export', 'nightly-report', 'support-bot']);
    for (const name of examples) {
      const files = readdirSync(join(root, 'examples', name)).filter((file) => file.endsWith('.ts'));
      assert.ok(files.length === 1 || files.length === 2, `${name} has one file or two`);
      for (const file of files) {
        const lines = readFileSync(join(root, 'examples', name, file), 'utf8').split('\n').length;
        assert.ok(lines < 120, `${name}/${file} has ${lines} lines`);
      }
    }
  });

  for (const name of examples) {
    it(`do what their README says: ${name}`, async () => {
      const service = await Service.start();
      try {
        const readme = readFileSync(join(root, 'examples', name, 'README.md'), 'utf8');
        const steps = parseSteps(parseBlocks(findSection(readme, '## Run it')));
        assert.ok(steps.length >= 3, 'it has its commands');
        const key = service.output.map((line) => /^ {2}(eak_\w+)$/.exec(line)?.[1]).find(Boolean) as string;
        const [settings] = steps as [Step, ...Step[]];
        assert.ok(settings.commands.includes('SKEIN_API_KEY=eak_…\n'), 'it asks for the key first');
        settings.commands = settings.commands.replace('eak_…', key);
        assert.deepEqual(
          await transcript(service, steps),
          steps.map(({ printed }) => printed),
        );
      } finally {
        await service.end();
      }
    });
  }
});

describe('An example', { concurrency: 3 }, () => {
  let service: Service;
  let api: Api;
  let environment: Record<string, string>;
  before(async () => {
    // Builds their imports once, even if this file runs alone.
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'client/build.ts')], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    service = await startWithoutDemo();
    const { key } = await hire(service, 'First', 'ada@first.example');
    environment = { SKEIN_API_KEY: key, SKEIN_BASE_URL: service.baseUrl };
    api = new Api(service.baseUrl, key);
  });
  after(() => service?.end());

  const run = (file: string, words: string[], changes = {}, input = '') =>
    runExample(service.folder, file, words, { ...environment, ...changes }, input);

  it('reports a missing or invalid setting', async () => {
    const none = { SKEIN_API_KEY: '', SKEIN_CLIENT_ID: '' };
    const wrong = {
      SKEIN_API_KEY: 'eak_wrong',
      SKEIN_CLIENT_ID: 'app_wrong',
      SKEIN_CLIENT_SECRET: 'eas_wrong',
    };
    const programs: [file: string, words: string[], needs: RegExp][] = [
      ['support-bot/support-bot.ts', [], /^Set SKEIN_API_KEY/],
      ['nightly-report/nightly-report.ts', ['none.md'], /^Set SKEIN_CLIENT_ID/],
      ['bulk-export/bulk-export.ts', ['none.jsonl'], /^Set SKEIN_API_KEY/],
    ];
    for (const [file, words, needs] of programs) {
      const without = await run(file, words, none, 'acct_1 Hello\n');
      assert.deepEqual([without.exitCode, without.stdout], [1, ''], file);
      assert.match(without.stderr, needs);
      const refused = await run(file, words, wrong, 'acct_1 Hello\n');
      assert.deepEqual([refused.exitCode, refused.stdout], [1, ''], file);
      assert.match(refused.stderr, /^UNAUTHORIZED: [^\n]+Trace ID: [0-9a-f-]{36}\n$/);
    }
    assert.ok(!existsSync(join(service.folder, 'none.md')), 'a report that failed is not there');
  });

  it('the support bot tells a customer that a reply has failed, and continues', async () => {
    const input = 'acct_1 #fail\n\nacct_2 Hello\nacct_3\n';
    const { exitCode, stdout, stderr } = await run('support-bot/support-bot.ts', [], {}, input);
    assert.equal(exitCode, 0, stderr);
    assert.match(
      stdout,
      /^acct_1: I could not answer that\. A colleague will look into thr_\w+\.\nacct_2: You asked: Hello\n.*\nacct_3: Nothing yet\.\n$/s,
    );
  });

  it('the bulk export resumes after it was killed, and contains each thread once', async () => {
    const org = (await service.skein('org', 'create', 'Exported')).id;
    const { key, api: mine } = await makeMember(service, org, 'ada@example.com');
    for (let count = 1; count <= 7; count += 1) await mine.create({ prompt: `Number ${count}` });
    const wanted = [];
    for (const { id } of await mine.walk()) wanted.push(await mine.untilDone(id));
    assert.equal(wanted.length, 7);

    const words = ['all.jsonl', '2'];
    const file = join(service.folder, 'all.jsonl');
    // A list, two reads, the next list: the kill comes in the middle of the second page.
    await runKilledAfter(5, service, 'bulk-export/bulk-export.ts', words, key);
    assert.ok(existsSync(`${file}.state`), 'it was killed before its end');
    appendFileSync(file, '{"thread":{"id":"thr_half');
    // A walk is a snapshot: threads created later are not part of it.
    await mine.create({ prompt: 'Later' });
    const again = await run('bulk-export/bulk-export.ts', words, { SKEIN_API_KEY: key });
    assert.deepEqual(again, {
      exitCode: 0,
      stdout: 'Resuming after 2 threads.\nall.jsonl: 7 threads\n',
      stderr: '',
    });
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      wanted,
    );
    assert.ok(!existsSync(`${file}.state`));
    const third = await run('bulk-export/bulk-export.ts', words, { SKEIN_API_KEY: key });
    assert.deepEqual([third.exitCode, third.stdout], [1, '']);
    assert.match(third.stderr, /all\.jsonl is already a complete export/);
  });

  it('the nightly report contains recent published threads, whatever their titles', async () => {
    const { clientId, clientSecret } = await service.skein('app', 'create', 'First', '--name', 'Report');
    const application = { SKEIN_CLIENT_ID: clientId, SKEIN_CLIENT_SECRET: clientSecret };
    const publish = async (body: object) => {
      const { thread } = (await api.create(body)).body;
      await api.untilDone(thread.id);
      await service.skein('thread', 'publish', 'First', thread.id);
      return thread.id as string;
    };
    const id = await publish({
      prompt: '#source A\n# B\n#say One\n#say \n#say # Two',
      title: '[x](y)\n# <b>',
      accountId: 'a_b',
    });
    await publish({ prompt: '#fail', title: 'Failed' });
    await api.create({ prompt: 'Private', title: 'Private' });
    const outcome = await run('nightly-report/nightly-report.ts', ['night.md'], application);
    assert.deepEqual(outcome, { exitCode: 0, stdout: 'night.md: 2 threads\n', stderr: '' });
    const report = readFileSync(join(service.folder, 'night.md'), 'utf8');
    assert.match(report, /^# Published threads\n\nSince 2\S+Z: 2, of which 1 failed\.\n\n## \[Failed\]/);
    assert.ok(
      report.includes(`## [\\[x\\](y) \\# \\<b\\>](${service.baseUrl}/threads/${id})\n\nAccount a\\_b\n`),
      report,
    );
    assert.ok(report.includes('\n**assistant** (failed)\n\n> '));
    assert.ok(!report.includes('Private'));
    assert.equal(report.match(/^#/gm)?.length, 3, 'no text of a thread becomes a heading');
  });
});

interface Step {
  commands: string;
  /** The expected output below them; nothing if they print nothing. */
  printed: string;
}

function parseSteps(blocks: readonly Block[]): Step[] {
  const steps: Step[] = [];
  for (const { language, text } of blocks) {
    if (language === 'sh') steps.push({ commands: text, printed: '' });
    else (steps.at(-1) as Step).printed = text;
  }
  return steps;
}

/** Runs all commands in one shell, in the folder of a test service; returns what each step printed. */
async function transcript(service: Service, steps: readonly Step[]): Promise<string[]> {
  for (const name of ['examples', 'client', 'node_modules', 'package.json']) {
    symlinkSync(join(root, name), join(service.folder, name));
  }
  writeNpx(service.folder);
  const mark = '=== the next step ===';
  const shell = promisify(execFile)(
    'sh',
    ['-euc', steps.map(({ commands }) => commands).join(`echo '${mark}'\n`)],
    {
      cwd: service.folder,
      env: cleanEnvironment({ SKEIN_BASE_URL: service.baseUrl, PATH: pathWithNpx(service.folder) }),
    },
  );
  shell.child.stdin?.end();
  const { stdout } = await shell;
  return stdout
    .replaceAll(service.baseUrl, 'http://127.0.0.1:8080')
    .replaceAll(/thr_[0-9a-z]{26}/g, 'thr_01kaq3w9e07n3v5b8d2f6h4j9k')
    .split(`${mark}\n`);
}

async function runExample(
  folder: string,
  file: string,
  words: readonly string[],
  environment: Record<string, string>,
  input: string,
): Promise<CommandOutcome> {
  const running = promisify(execFile)(process.execPath, [join(root, 'examples', file), ...words], {
    cwd: folder,
    env: cleanEnvironment(environment),
  });
  // A program that does not read its input may have ended already.
  running.child.stdin?.on('error', () => {}).end(input);
  try {
    return { exitCode: 0, ...(await running) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { exitCode: code, stdout, stderr };
  }
}

/** Forwards a program's requests, and kills it after a given number. */
async function runKilledAfter(
  requests: number,
  service: Service,
  file: string,
  words: readonly string[],
  key: string,
): Promise<void> {
  let passed = 0;
  const proxy = createServer(async ({ url, headers }, response) => {
    passed += 1;
    if (passed > requests) {
      child.kill('SIGKILL');
      return;
    }
    const answer = await fetch(`${service.baseUrl}${url}`, {
      headers: { authorization: headers.authorization as string },
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const child = spawn(process.execPath, [join(root, 'examples', file), ...words], {
    cwd: service.folder,
    env: cleanEnvironment({ SKEIN_API_KEY: key, SKEIN_BASE_URL: address }),
    stdio: 'ignore',
  });
  const [, signal] = await once(child, 'exit');
  proxy.close();
  proxy.closeAllConnections();
  assert.equal(signal, 'SIGKILL');
}
