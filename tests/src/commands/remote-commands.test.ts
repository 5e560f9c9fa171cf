import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { promisify, stripVTControlCharacters } from 'node:util';
import { findSection, parseBlocks } from '../../harness/documents/markdown.ts';
import { Api } from '../../harness/http/api.ts';
import { findProgram } from '../../harness/service/machine.ts';
import {
  type CommandOutcome,
  cleanEnvironment,
  launcher,
  root,
  runCommand,
  type Service,
  temporaryFolder,
} from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';
import { makeApplication } from '../../harness/world/applications.ts';
import { hire } from '../../harness/world/tenants.ts';
import { awaitOutcome, runWithInput, startSkein } from './command-input.ts';
import { assertRefused } from './refused-command.ts';

type Environment = Record<string, string>;

/** Not the service's folder: a store that a command opened by mistake would be found here. */
const folder = temporaryFolder();
const noTerminal = findProgram('script') === undefined && 'script is not installed';
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

describe('The remote commands', { concurrency: 3 }, () => {
  let service: Service;
  let api: Api;
  let environment: Environment;
  let organization: string;
  before(async () => {
    service = await sharedService();
    organization = (await service.skein('org', 'create', 'Acme')).id;
    environment = await hireMember(organization, 'ada@example.com');
    api = new Api(service.baseUrl, environment.SKEIN_API_KEY);
  });
  after(async () => {
    assert.deepEqual(readdirSync(folder), [], 'no command has made a store');
  });

  async function hireMember(org: string, email: string): Promise<Environment> {
    const { key } = await hire(service, org, email);
    return { SKEIN_BASE_URL: service.baseUrl, SKEIN_API_KEY: key };
  }
  /** Without threads of other people. */
  async function newcomer(): Promise<Environment> {
    const { id } = await service.skein('org', 'create', 'Newcomers');
    return hireMember(id, 'new@example.com');
  }
  /** `ask` reads its input and `threads export` writes as it reads: they run as typed. */
  const run = (words: string[], changes: Environment = {}, input = '') => {
    const settings = { ...environment, ...changes };
    return words[0] === 'threads' && words[1] !== 'export'
      ? runCommand(folder, words, settings)
      : runWithInput(folder, words, settings, input);
  };
  const json = async (...words: string[]) => JSON.parse(output(await run([...words, '--json'])));
  const begin = async (prompt: string) => (await api.create({ prompt })).body.thread.id as string;

  it('ask prints only the text of the reply into a pipe', async () => {
    const outcome = await run(['ask', '#step Reading\n#source Refunds\n#say Thirty days [1].']);
    assert.deepEqual(outcome, { exitCode: 0, stdout: 'Thirty days [1].\n', stderr: '' });
  });

  it('ask prints text on a terminal as it arrives, then the sources and the thread', {
    skip: noTerminal,
  }, async () => {
    const prompt = '#source Refunds\n#say Thirty \n#hang';
    writeFileSync(join(service.folder, 'hanging.txt'), prompt);
    const child = spawn('script', ['-qfec', `${launcher} ask < hanging.txt`, '/dev/null'], {
      cwd: service.folder,
      env: { ...cleanEnvironment(environment), TERM: 'xterm-256color' },
    });
    let shown = '';
    for await (const chunk of child.stdout) {
      shown += chunk;
      // The reply never ends, so the text must be printed as it arrives.
      if (shown.includes('Thirty')) break;
    }
    child.kill();
    assert.match(shown, /0 s {2}Waiting for the reply/);
    const done = spawnSync(
      'script',
      ['-qec', `${launcher} ask '#source Refunds\n#say Thirty days [1].'`, '/dev/null'],
      {
        env: { ...cleanEnvironment(environment), TERM: 'xterm-256color' },
        encoding: 'utf8',
      },
    );
    const text = stripVTControlCharacters(done.stdout).replaceAll('\r\n', '\n').split('\r').at(-1);
    assert.match(text ?? '', /^Thirty days \[1\]\.\n\n\[1\] Refunds\n\nthr_\w+ {2}http:\S+\n$/);
  });

  it('ask --open opens the thread in a browser, or prints its address if there is none', async () => {
    const bin = temporaryFolder();
    const opened = join(bin, 'opened');
    const given = join(bin, 'given');
    const opener = (ending: string) => {
      for (const name of ['xdg-open', 'open'])
        writeFileSync(join(bin, name), `#!/bin/sh\necho "$@" >> ${opened}\nenv > ${given}\n${ending}\n`, {
          mode: 0o755,
        });
    };
    const path = { PATH: `${bin}:${process.env.PATH}` };
    opener('exit 0');
    const { thread } = JSON.parse(output(await run(['ask', '#say Hi.', '--open', '--json'], path)));
    assert.equal(readFileSync(opened, 'utf8'), `${thread.threadUrl}\n`);
    const names = [...readFileSync(given, 'utf8').matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    assert.ok(names.includes('PATH'));
    assert.ok(!names.some((name) => name?.startsWith('SKEIN_')), 'a browser gets no key');
    opener('exit 3');
    const { exitCode, stdout, stderr } = await run(['ask', '#say Hi.', '--open'], path);
    assert.deepEqual({ exitCode, stdout }, { exitCode: 0, stdout: 'Hi.\n' });
    assert.match(stderr, /^Could not start a browser\. Open http:\S+thr_\w+\n$/);
  });

  it('ask prints the steps on standard error with --verbose', async () => {
    const outcome = await run(['ask', '--verbose', '#step Reading\n#step Weighing\n#say Yes.']);
    assert.deepEqual(outcome, { exitCode: 0, stdout: 'Yes.\n', stderr: 'Reading\nWeighing\n' });
  });

  it('ask reads the prompt from standard input, without PROMPT and with -', async () => {
    for (const words of [['ask'], ['ask', '-']]) {
      const { thread } = JSON.parse(
        output(await run([...words, '--json'], {}, '#say Yes.\n#say  Ünd no.\n')),
      );
      const { body } = await api.get(thread.id);
      assert.equal(body.messages[0].content, '#say Yes.\n#say  Ünd no.', 'without the line break at its end');
    }
  });

  it('ask prints the thread and the reply as one JSON value, and applies its options', async () => {
    const made = await json('ask', '#source Refunds\n#say Hi.', '--account', 'acct_1', '--title', 'Greeting');
    const { body } = await api.get(made.thread.id);
    assert.deepEqual(made, { thread: body.thread, reply: body.messages[1] });
    assert.deepEqual([made.thread.accountId, made.thread.title], ['acct_1', 'Greeting']);
    assert.equal(made.reply.sources[0].title, 'Refunds');
  });

  it('ask prints a reply into a pipe unchanged, including terminal control characters', async () => {
    const { stdout } = await run(['ask', '#say \u001b[31mred']);
    assert.equal(stdout, '\u001b[31mred\n');
  });

  it('ask prints the id of the thread on Ctrl-C, and the reply continues', async () => {
    const child = startSkein(folder, ['ask', '--verbose', '#step Waiting\n#hang'], environment);
    const outcome = awaitOutcome(child);
    await once(child.stderr as NodeJS.ReadableStream, 'data');
    child.kill('SIGINT');
    const { exitCode, stdout, stderr } = await outcome;
    assert.equal(exitCode, 130);
    assert.equal(stdout, '');
    const [, id] = /skein: Stopped waiting.*'skein threads get (thr_\w+) --wait'.*\.\n$/.exec(stderr) ?? [];
    assert.ok(id, stderr);
    assert.equal((await api.get(id)).body.status.state, 'in_progress');
    await api.delete(id);
  });

  it('ask fails with the id of a failed thread, and prints no reply', async () => {
    assertRefused(await run(['ask', '#fail']), /The reply in thr_\w+ failed: .*operator/);
  });

  it('threads list shows some or all threads, newest first', async () => {
    const theirs = await newcomer();
    const mine = new Api(service.baseUrl, theirs.SKEIN_API_KEY);
    const list = (...words: string[]) => run(['threads', 'list', ...words], theirs);
    assert.match(output(await list()), /skein ask/);
    for (let count = 1; count <= 27; count += 1) {
      const title = `Number ${count}\u0007`;
      await mine.create({ prompt: 'Hello', title, ...(count % 9 === 0 && { accountId: 'acct_9' }) });
    }
    const ids = (await mine.walk()).map(({ id }) => id);
    const shown = async (...words: string[]) => {
      const { exitCode, stdout, stderr } = await list(...words, '--json');
      assert.equal(exitCode, 0, stderr);
      return { ids: JSON.parse(stdout).map(({ id }: { id: string }) => id), more: stderr.includes('more') };
    };
    assert.deepEqual(await shown(), { ids: ids.slice(0, 25), more: true });
    assert.deepEqual(await shown('--limit', '2'), { ids: ids.slice(0, 2), more: true });
    assert.deepEqual(await shown('--limit', '27'), { ids, more: false });
    assert.deepEqual(await shown('--limit', '150'), { ids, more: false });
    assert.deepEqual(await shown('--all'), { ids, more: false });
    assert.equal((await shown('--account', 'acct_9')).ids.length, 3);
    const table = (await list('--limit', '1')).stdout;
    assert.match(table, new RegExp(`^${ids[0]} +2\\S+Z .*acct_9  Number 27\uFFFD\n$`));
  });

  it('threads get shows a thread as text, or as JSON like the API', async () => {
    const id = await begin('#source Refunds\n#say Thirty days [1].');
    await api.untilDone(id);
    const { body } = await api.get(id);
    assert.deepEqual(await json('threads', 'get', id), body);
    const text = output(await run(['threads', 'get', id]));
    assert.match(text, new RegExp(`\n${id} · idle · created 2[^\n]+\n\nuser:\n#source Refunds\n`));
    assert.ok(text.endsWith('assistant:\nThirty days [1].\n\n[1] Refunds\n'), text);
  });

  it('threads get --wait waits for the reply, and reports a failure in its exit code', async () => {
    const good = await run(['threads', 'get', await begin('#wait 300\n#say Done.'), '--wait', '--json']);
    assert.equal(JSON.parse(output(good)).messages[1].status, 'completed');
    const bad = await run(['threads', 'get', await begin('#wait 300\n#fail'), '--wait', '--json']);
    assert.equal(bad.exitCode, 1);
    assert.equal(JSON.parse(bad.stdout).status.state, 'error');
  });

  it('threads rename and delete change the thread', async () => {
    const id = await begin('Hello');
    assert.equal((await json('threads', 'rename', id, 'Farewell')).title, 'Farewell');
    assert.equal(
      output(await run(['threads', 'rename', id, 'And\u001bso'])),
      `${id} is now 'And\uFFFDso'.\n`,
    );
    assert.equal((await api.get(id)).body.thread.title, 'And\u001bso');
    assert.deepEqual(await json('threads', 'delete', id), { id, deleted: true });
    assert.equal((await api.get(id)).status, 404);
    assertRefused(
      await run(['threads', 'delete', id]),
      new RegExp(`\\(trace ID ${uuid}\\).*skein threads list`),
    );
  });

  it('threads export prints one line for every thread, with its messages', async () => {
    const settings = await newcomer();
    const mine = new Api(service.baseUrl, settings.SKEIN_API_KEY);
    for (const prompt of ['One', 'Two', 'Three']) await mine.create({ prompt });
    const wanted = [];
    for (const { id } of await mine.walk()) wanted.push(await mine.untilDone(id));
    assert.equal(wanted.length, 3);
    const exported = output(await run(['threads', 'export'], settings));
    const lines = exported.trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      wanted,
    );
  });

  it('threads export fails if a listing cannot return all threads', async () => {
    const cut = createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ threads: [], nextCursor: null, truncated: true }));
    }).listen(0, '127.0.0.1');
    await once(cut, 'listening');
    const { port } = cut.address() as AddressInfo;
    const settings = { SKEIN_BASE_URL: `http://127.0.0.1:${port}` };
    const outcome = await run(['threads', 'export'], settings);
    const ofAccount = await run(['threads', 'export', '--account', 'acct_1'], settings);
    cut.close();
    assertRefused(
      outcome,
      /^skein: The export is incomplete\. .*: use --account ID, or the operator can raise SKEIN_PAGINATION_WINDOW\./,
    );
    assertRefused(ofAccount, /^skein: The export is incomplete\. .*raise SKEIN_PAGINATION_WINDOW\./);
  });

  it('exit quietly when the reader closes the pipe', async () => {
    const child = startSkein(folder, ['threads', 'list'], environment);
    child.stdout?.destroy();
    const [stderr, [exitCode]] = await Promise.all([
      readAll(child.stderr as NodeJS.ReadableStream),
      once(child, 'close'),
    ]);
    assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' });
  });

  it("read published threads with an application's credentials, and cannot ask", async () => {
    const application = await makeApplication(service, organization);
    const id = await begin('For all');
    await service.skein('thread', 'publish', organization, id);
    const credentials = {
      SKEIN_API_KEY: '',
      SKEIN_CLIENT_ID: application.clientId,
      SKEIN_CLIENT_SECRET: application.clientSecret,
    };
    const listed = JSON.parse(output(await run(['threads', 'list', '--json'], credentials)));
    assert.deepEqual(
      listed.map((thread: { id: string }) => thread.id),
      [id],
    );
    assertRefused(await run(['ask', 'Hello'], credentials), /Use a personal key \(trace ID/);
    const both = { ...credentials, SKEIN_API_KEY: environment.SKEIN_API_KEY as string };
    assert.equal((await run(['ask', 'Hello'], both)).exitCode, 0, 'the key comes first');
    assertRefused(
      await run(['threads', 'list'], { ...credentials, SKEIN_CLIENT_SECRET: 'wrong' }),
      /SKEIN_CLIENT_SECRET/,
    );
    for (const missing of ['SKEIN_CLIENT_ID', 'SKEIN_CLIENT_SECRET']) {
      const refused = await run(['threads', 'list'], { ...credentials, [missing]: '' });
      assertRefused(refused, new RegExp(`${missing} must be set together with`));
    }
  });

  it('say how to get a missing key, and what is wrong with an invalid one', async () => {
    for (const words of [
      ['ask', 'Hello'],
      ['threads', 'list'],
    ]) {
      assertRefused(await run(words, { SKEIN_API_KEY: '' }), /^skein: SKEIN_API_KEY .*skein key create/);
      const refused = new RegExp(`\\(trace ID ${uuid}\\)\\. Check SKEIN_API_KEY`);
      assertRefused(await run(words, { SKEIN_API_KEY: 'eak_nonsense' }), refused);
      assertRefused(
        await run(words, { SKEIN_API_KEY: 'two words' }),
        /SKEIN_API_KEY must be printable ASCII/,
      );
    }
  });

  it('say when the quota is used up, and when it resets', async () => {
    const { id } = await service.skein('org', 'create', 'Metered', '--quota', '0');
    const theirs = await hireMember(id, 'meter@example.com');
    assertRefused(
      await run(['threads', 'list'], theirs),
      new RegExp(`trace ID ${uuid}.*Try again in \\d+ s\\.`),
    );
  });

  it('name the address at which they found no service, or something else', async () => {
    const server = createServer((_request, response) => response.end('<h1>\u001bHello</h1>')).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const outcome = await run(['threads', 'list'], { SKEIN_BASE_URL: address });
    assertRefused(outcome, /not from Skein: 200 \(.*\): <h1>\uFFFDHello.*SKEIN_BASE_URL/);
    server.close();
    await once(server, 'close');
    assertRefused(
      await run(['threads', 'list'], { SKEIN_BASE_URL: address }),
      /ECONNREFUSED.*SKEIN_BASE_URL/,
    );
    const wrong = await run(['threads', 'list'], { SKEIN_BASE_URL: 'skein.example' });
    assertRefused(wrong, /SKEIN_BASE_URL must be an http or https URL/);
  });

  it('do what docs/commands.md shows', async () => {
    const document = readFileSync(join(root, 'docs/commands.md'), 'utf8');
    const [sample] = parseBlocks(findSection(document, '## From a terminal, for any service'));
    assert.ok(sample, 'it has its sample');
    assert.ok(sample.text.startsWith('export SKEIN_API_KEY=eak_…\n'), 'it asks for the key first');
    symlinkSync(join(root, 'node_modules'), join(service.folder, 'node_modules'));
    for (const prompt of ['One', 'Two', 'Three']) await begin(prompt);
    writeFileSync(join(service.folder, 'question.txt'), '#say From a file.\n');
    const { SKEIN_API_KEY: key, ...elsewhere } = environment;
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-euc', sample.text.replace('eak_…', key as string)],
      {
        cwd: service.folder,
        env: cleanEnvironment(elsewhere),
      },
    );
    const [asked, ...rest] = stdout.trimEnd().split('\n');
    assert.equal(asked, 'You asked: How long do refunds take?');
    assert.equal(readFileSync(join(service.folder, 'answer.txt'), 'utf8'), 'From a file.\n');
    assert.equal(JSON.parse(rest.at(-1) as string).length, 5);
  });

  it('ignore the settings of a service', async () => {
    const nonsense = { SKEIN_PORT: 'nonsense', SKEIN_DATABASE_URL: 'nonsense', SKEIN_MODEL: 'nonsense' };
    assert.equal((await run(['threads', 'list'], nonsense)).exitCode, 0);
  });
});

/** The output of a command that must succeed. */
function output({ exitCode, stdout, stderr }: CommandOutcome): string {
  assert.equal(exitCode, 0, stderr);
  assert.equal(stderr, '');
  return stdout;
}
