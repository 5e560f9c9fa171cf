import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '../../harness/service/service.ts';

const dayMs = 86_400_000;
const program = join(import.meta.dirname, 'check-release-ages.ts');

describe('npm run lock:ages', () => {
  const asked: string[] = [];
  const registry = createServer(({ url = '' }, response) => {
    asked.push(url);
    const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
    const time = { '1.0.0': daysAgo(40), '1.0.1': daysAgo(14.1), '2.0.0': daysAgo(5) };
    response.end(JSON.stringify({ time }));
  });
  before(() => once(registry.listen(0, '127.0.0.1'), 'listening'));
  after(() => registry.close());

  function write(folder: string, versions: Record<string, string>, releasedRecently = {}): void {
    const packages = Object.entries(versions).map(([name, version]) => [`node_modules/${name}`, { version }]);
    writeFileSync(
      join(folder, 'package-lock.json'),
      JSON.stringify({ packages: Object.fromEntries(packages) }),
    );
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ releasedRecently }));
  }

  async function check(
    folder: string,
    url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
  ) {
    asked.length = 0;
    const env = { ...process.env, npm_config_registry: url };
    const child = execFile(process.execPath, [program, folder], { env });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (printed += text));
    const [exitCode] = await once(child, 'close');
    return { exitCode, printed };
  }

  it('fails with the versions that were released less than 14 days ago', async () => {
    const folder = temporaryFolder();
    write(folder, { old: '1.0.1', new: '2.0.0', '@scope/new': '2.0.0' });
    const { exitCode, printed } = await check(folder);
    assert.equal(exitCode, 1);
    assert.match(printed, /^Released less than 14 days ago: @scope\/new@2\.0\.0, new@2\.0\.0\. /);
    assert.deepEqual(asked.sort(), ['/@scope%2fnew', '/new', '/old']);
  });

  it('accepts a security fix that package.json names, in this version only', async () => {
    const folder = temporaryFolder();
    write(folder, { fixed: '2.0.0' }, { 'fixed@2.0.0': 'GHSA-0000-0000-0000' });
    assert.deepEqual(await check(folder), { exitCode: 0, printed: '' });
    write(folder, { fixed: '2.0.0' }, { 'fixed@1.0.0': 'GHSA-0000-0000-0000' });
    assert.equal((await check(folder)).exitCode, 1);
  });

  it('looks up only versions that the lock did not have 14 days ago', async () => {
    const folder = temporaryFolder();
    const git = (date: string, ...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...words], {
        cwd: folder,
        env: { ...process.env, GIT_COMMITTER_DATE: date },
      });
    const commit = (days: number) => {
      const date = new Date(Date.now() - days * dayMs).toISOString();
      git(date, 'add', '.');
      git(date, 'commit', '--quiet', '--message', 'Lock');
    };
    git('', 'init', '--quiet');
    write(folder, { kept: '2.0.0', raised: '1.0.0' });
    commit(13);
    assert.equal((await check(folder)).exitCode, 1, 'the history is too short');
    git('', 'checkout', '--quiet', '--orphan', 'longer');
    commit(15);
    write(folder, { kept: '2.0.0', raised: '1.0.1' });
    commit(1);
    assert.deepEqual(await check(folder), { exitCode: 0, printed: '' });
    assert.deepEqual(asked, ['/raised']);
  });

  it('names what it could not check, and passes, if the registry cannot be reached', async () => {
    const folder = temporaryFolder();
    write(folder, { new: '2.0.0' });
    const printed = 'The registry does not say when these were released: new@2.0.0.\n';
    assert.deepEqual(await check(folder, 'http://127.0.0.1:1/'), { exitCode: 0, printed });
  });
});
