import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findSection, parseBlocks, tableRows } from '../../harness/documents/markdown.ts';
import { cleanEnvironment, root, runCommand, runSkein, Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';

const read = (page: string) => readFileSync(join(root, 'docs', page), 'utf8');
const document = read('operating.md');
const firstCells = (markdown: string, heading: string) =>
  tableRows(findSection(markdown, heading)).map(([cell]) => cell as string);

describe('The pages for operators', () => {
  let service: Service;
  let key: string;
  before(async () => {
    service = await Service.start();
    ({ key } = await service.skein('key', 'create', 'Demo', '--user', 'admin@demo.example'));
  });
  after(() => service.end());
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${service.baseUrl}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(init.headers as Record<string, string>),
      },
    });

  it("show the operator's commands as 'skein help' prints them", async () => {
    const { stdout } = await runSkein(service.folder, ['help']);
    const printed = stdout.split('\n').map((line) => line.trimEnd());
    const [shown] = parseBlocks(read('commands.md'));
    assert.equal(shown?.text.trim(), printed.join('\n').trim());
  });

  it('name every check of the doctor', async () => {
    const { findings } = await service.skein('doctor');
    assert.deepEqual(
      firstCells(document, '## Doctor'),
      findings.map(({ check }: { check: string }) => check),
    );
  });

  it('have a backup command that copies the store of a running service', async () => {
    const { thread } = (await (
      await call('/api/v1/threads', { method: 'POST', body: '{"prompt":"Keep me"}' })
    ).json()) as any;
    // Where npx looks for installed commands.
    symlinkSync(join(root, 'node_modules'), join(service.folder, 'node_modules'));
    const [command] =
      findSection(read('data.md'), '## The embedded store').match(/^ +npx skein backup .*$/m) ?? [];
    assert.ok(command, 'the document has the command');
    const { status, stderr } = spawnSync('sh', ['-c', command], {
      cwd: service.folder,
      env: cleanEnvironment({}),
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    const copy = { SKEIN_DATABASE_URL: 'sqlite:./skein-backup.db' };
    assert.equal((await runCommand(service.folder, ['doctor'], copy)).exitCode, 0);
    assert.equal(
      (await runCommand(service.folder, ['thread', 'publish', 'Demo', thread.id], copy)).exitCode,
      0,
      'the copy has the thread',
    );
  });

  it('describe the responses of the health endpoints', async () => {
    const rows = tableRows(findSection(document, '## Health'));
    assert.deepEqual(
      rows.map(([path]) => path),
      ['/healthz', '/readyz'],
    );
    for (const [path, answer] of rows) {
      const response = await fetch(`${service.baseUrl}${path}`);
      const actual = `${response.status} \`${await response.text()}\``;
      assert.ok(answer?.startsWith(actual), `${path} returns ${actual}`);
    }
  });

  it('name every field of a request log line, and the exit code 0 of a clean stop', async () => {
    const other = await startWithoutDemo();
    const { key: otherKey } = await other.skein('key', 'create', 'First', '--org-wide');
    await (
      await fetch(`${other.baseUrl}/api/v1/threads`, { headers: { authorization: `Bearer ${otherKey}` } })
    ).text();
    assert.equal(await other.end('SIGTERM'), 0);
    const lines = other.output.filter((line) => line.includes('"msg":"request"'));
    assert.equal(lines.length, 1);
    assert.deepEqual(
      firstCells(read('monitoring.md'), '## Log'),
      Object.keys(JSON.parse(lines[0] as string)),
    );
  });

  it('state the fixed limits that the service enforces', async () => {
    const limits = Object.fromEntries(
      tableRows(findSection(read('settings.md'), '## Limits')).map(([name, value]) => [
        name,
        Number.parseInt(value!, 10),
      ]),
    );
    const refusal = async (path: string, init: RequestInit) => {
      const response = await call(path, init);
      return `${response.status} ${((await response.json()) as any).error.message}`;
    };
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const {
      'Bytes of the request line and headers': headerBytes,
      'Levels of nesting in a JSON body': levels,
    } = limits;
    assert.deepEqual([headerBytes, levels], [16_384, 32]);
    assert.equal(limits['Threads per page'], 100);
    assert.equal(limits['Characters of an `Idempotency-Key`'], 255);
    assert.equal(
      await refusal('/api/v1/threads', { headers: { 'x-long': 'x'.repeat(16_384) } }),
      '400 Request headers are too large. The limit is 16,384 bytes and 100 headers.',
    );
    assert.equal(
      await refusal('/api/v1/threads', { method: 'POST', body: deep(33) }),
      '400 Request body must be nested at most 32 levels deep.',
    );
    assert.match(
      await refusal('/api/v1/threads?limit=101', {}),
      /^400 `limit` must be an integer from 1 to 100\./,
    );
    const headers = { 'idempotency-key': 'x'.repeat(256) };
    assert.match(
      await refusal('/api/v1/threads', { method: 'POST', body: '{"prompt":"Hello"}', headers }),
      /^400 `Idempotency-Key` must be a string with 1 to 255 characters/,
    );
  });

  it('state how long idle connections and a stop last', async () => {
    const response = await call('/healthz');
    const [, seconds] = /timeout=(\d+)/.exec(response.headers.get('keep-alive') ?? '') ?? [];
    assert.ok(seconds && document.includes(`an idle connection open for ${seconds} s`));
    const source = readFileSync(join(root, 'server/src/commands/serve.ts'), 'utf8');
    const [, finishMs] = /^const finishMs = ([\d_]+);$/m.exec(source) ?? [];
    assert.ok(finishMs, 'serve.ts says when it cuts off requests');
    assert.ok(document.includes(`after ${Number(finishMs.replaceAll('_', '')) / 1000} s is cut off`));
  });
});
