import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { startBrowser, Window } from '../../harness/browser/browser.ts';
import { cleanEnvironment, root, temporaryFolder } from '../../harness/service/service.ts';
import { type IssuedApplication, makeApplication } from '../../harness/world/applications.ts';
import { sharedWorld, type World } from '../../harness/world/world.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { consumerProject, packedFiles } from './packed.ts';
import type { Report, Settings } from './scenario.ts';

const run = promisify(execFile);
const onLinux = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
const bun = join(root, `node_modules/@oven/bun-linux-${process.arch === 'x64' ? 'x64' : 'aarch64'}/bin/bun`);
const deno = join(root, `node_modules/@deno/linux-${process.arch}-glibc/deno`);

const page = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' };
const failure = { status: 500, body: '{"error":{"code":"INTERNAL_ERROR","message":"Oh.","trace_id":"1"}}' };

// Each runtime mostly waits for retries and timeouts, so they run at the same time.
describe('The packed client', { concurrency: true }, () => {
  let world: World;
  let proxy: FaultyProxy;
  let project: string;
  let application: IssuedApplication;
  /** No request may go there. */
  let elsewhere: string;
  before(async () => {
    world = await sharedWorld();
    proxy = await FaultyProxy.start(world.service.baseUrl);
    elsewhere = proxy.address();
    project = await consumerProject();
    application = await makeApplication(world.service, world.acme);
    const program = readFileSync(join(import.meta.dirname, 'scenario.ts'), 'utf8');
    writeFileSync(join(project, 'scenario.js'), stripTypeScriptTypes(program));
    writeFileSync(
      join(project, 'main.js'),
      `import process from 'node:process';
import * as client from '@skein/client';
import { scenario } from './scenario.js';
console.log(JSON.stringify(await scenario(client, JSON.parse(process.argv[2]))));
`,
    );
  });
  after(async () => {
    await proxy.close();
  });

  const makeSettings = (): Settings => ({
    direct: proxy.address(),
    lossy: proxy.address(['drop', 'lose the answer', failure, page]),
    limited: proxy.address([{ status: 429, headers: { 'retry-after': '1' } }]),
    exhausted: proxy.address([{ status: 429, headers: { 'retry-after': '3600' } }]),
    withoutPrefer: proxy.address([], { knowsPrefer: false }),
    silent: proxy.address(['hang']),
    portal: proxy.address([{ ...page, status: 200 }]),
    moved: proxy.address([{ status: 302, headers: { location: `${elsewhere}/api/v1/threads` } }]),
    apiKey: world.adaKey.key,
    ...application,
  });

  /** Fails unless every check passed and the service received the expected requests. */
  const assertPassed = ({ passed, lossyThreadId }: Report, settings: Settings): void => {
    assert.equal(passed.length, 23, passed.join('\n'));
    const creates = proxy.requestsTo(settings.lossy);
    assert.ok(creates.length >= 5, `a create was tried ${creates.length} times`);
    const keys = new Set(creates.map(({ headers }) => headers['idempotency-key']));
    assert.equal(keys.size, 1, 'every attempt of a create has the same idempotency key');
    assert.match([...keys][0] as string, /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    assert.match(lossyThreadId, /^thr_/);
    const exhausted = proxy.requestsTo(settings.exhausted).length;
    assert.equal(exhausted, 1, 'a long Retry-After is not retried');
    assert.deepEqual(proxy.requestsTo(elsewhere), [], 'a credential is not sent to the target of a redirect');
    const exchanges = proxy.requestsTo(settings.direct).filter(({ path }) => path === '/oauth2/token');
    assert.equal(exchanges.length, 1, 'one exchange serves all calls');
  };

  const runOn = async (executable: string, words: string[] = []): Promise<void> => {
    const settings = makeSettings();
    const { stdout } = await run(executable, [...words, join(project, 'main.js'), JSON.stringify(settings)], {
      cwd: project,
      env: cleanEnvironment({ DENO_DIR: temporaryFolder(), DENO_NO_UPDATE_CHECK: '1' }),
      timeout: 60_000,
    });
    assertPassed(JSON.parse(stdout), settings);
  };

  it("works on the project's Node.js", () => runOn(process.execPath));

  it("works on the machine's own Node.js", async (test) => {
    const found = await machineNode();
    if (found === undefined) test.skip('the machine has no Node.js 20 or newer');
    else await runOn(found);
  });

  it('works on Bun', async (test) => {
    if (!onLinux && !existsSync(bun)) test.skip('npm brings Bun on Linux only');
    else await runOn(bun);
  });

  it('works on Deno with only network access to the service', async (test) => {
    if (!onLinux && !existsSync(deno)) test.skip('npm brings Deno on Linux only');
    else await runOn(deno, ['run', '--no-remote', '--no-prompt', '--allow-net=127.0.0.1']);
  });

  it('works in a browser', async (test) => {
    const settings = makeSettings();
    const files = (await packedFiles()).filter((path) => path.endsWith('.js'));
    assert.ok(files.includes('dist/index.js'));
    for (const path of files) {
      proxy.serve(`/client/${path}`, { file: join(project, 'node_modules/@skein/client', path) });
    }
    proxy.serve('/scenario.js', { file: join(project, 'scenario.js') });
    proxy.serve('/page.html', '<!doctype html><title>Skein</title><link rel="icon" href="data:,">');
    const browser = await startBrowser();
    test.after(() => browser.close());
    const window = await Window.open(browser, proxy.origin);
    await window.page.goto('/page.html');
    const report = await window.page.evaluate(async (given) => {
      const [client, program] = ['/client/dist/index.js', '/scenario.js'];
      return (await import(program as string)).scenario(await import(client as string), given);
    }, settings);
    assertPassed(report, settings);
    await window.close();
  });
});

/** The first on the path that is not the project's. */
async function machineNode(): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  const found = folders.map((folder) => join(folder, 'node')).find((file) => existsSync(file));
  if (found === undefined) return undefined;
  const { stdout } = await run(found, ['--version']);
  return Number(/^v(\d+)/.exec(stdout)?.[1]) >= 20 ? found : undefined;
}
