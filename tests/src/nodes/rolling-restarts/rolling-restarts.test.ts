import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parseSamples } from '../../../harness/documents/samples.ts';
import { Nodes } from '../../../harness/nodes/nodes.ts';
import { eventually } from '../../../harness/service/eventually.ts';
import { findProgram, freePort } from '../../../harness/service/machine.ts';
import { root, type Service, temporaryFolder } from '../../../harness/service/service.ts';

/** `SKEIN_DRILL_REQUESTS=5000` for the drill of docs/operating.md. */
const requestsMin = Number(process.env.SKEIN_DRILL_REQUESTS ?? 500);
const connections = 16;
/** Without a pause, the load alone keeps two processors busy: 50,000 requests in the time of the restarts. */
const pauseMs = 200;

const samples = parseSamples(readFileSync(join(root, 'docs/deploying.md'), 'utf8'));

describe('A rolling restart of two nodes', () => {
  let nodes: Nodes;
  let ports: readonly [number, number];
  let running: Service[];
  before(async () => {
    nodes = await Nodes.prepare();
    ports = [await freePort(), await freePort()];
    running = await Promise.all(ports.map(startOn));
  });
  after(() => nodes?.end());

  const startOn = (port: number) => nodes.start('all', { SKEIN_PORT: String(port) });

  for (const [name, commandLine] of [
    ['haproxy', (file: string) => ['-f', file]],
    ['nginx', (file: string) => ['-c', file, '-p', temporaryFolder(), '-e', '/dev/null']],
  ] as const) {
    it(`behind ${name}, as docs/deploying.md configures it, fails no request`, async (test) => {
      const program = findProgram(name);
      if (program === undefined) return test.skip(`${name} is not installed: apt-get install ${name}`);
      const port = await freePort();
      const file = join(temporaryFolder(), name);
      writeFileSync(file, readConfiguration(name, port, ports));
      const proxy = spawn(program, commandLine(file), { stdio: 'ignore' });
      test.after(() => end(proxy));
      const url = `http://127.0.0.1:${port}`;
      await eventually(() => fetchStatus(url, '/readyz'), is(200));

      const load = new Load(url, nodes.adaKey);
      await load.atLeast(requestsMin / 4);
      for (const place of [0, 1]) {
        assert.equal(await running[place]!.end(), 0);
        running[place] = await startOn(ports[place]!);
        // An operator waits until the proxy sends requests to the new process.
        await eventually(
          () => countRequests(running[place]!),
          (count) => count > 0,
          60_000,
        );
        await load.atLeast(((place + 2) * requestsMin) / 4);
      }
      await load.atLeast(requestsMin);
      const failures = await load.stop();
      console.log(`${name}: ${load.count} requests, ${failures.length} failed`);
      assert.deepEqual(failures.slice(0, 5), []);
    });
  }

  it('makes a node report that it is not ready before it stops listening', async () => {
    const port = await freePort();
    const node = await nodes.start('all', { SKEIN_PORT: String(port), SKEIN_DRAIN_MS: '60000' });
    const url = `http://127.0.0.1:${port}`;
    const authorization = `Bearer ${nodes.adaKey}`;
    assert.notEqual((await send(url, '/api/v1/threads', { authorization })).connection, 'close');
    node.signal('SIGTERM');
    await eventually(() => fetchStatus(url, '/readyz'), is(503));
    const answer = await send(url, '/api/v1/threads', { authorization });
    assert.deepEqual([answer.status, answer.connection], [200, 'close']);
    // A second signal ends it at once, unless it comes right after the first.
    const repeating = setInterval(() => node.signal('SIGTERM'), 100);
    assert.equal(await node.end('SIGTERM').finally(() => clearInterval(repeating)), 'SIGTERM');
  });

  it('does not drain when no readiness check was made', async () => {
    const node = await nodes.start();
    const began = performance.now();
    assert.equal(await node.end(), 0);
    assert.ok(performance.now() - began < 60_000);
    assert.ok(node.output.some((line) => line.includes('"msg":"stopped"')));
  });
});

function readConfiguration(language: string, port: number, [one, two]: readonly [number, number]): string {
  const text = samples.find((sample) => sample.language === language)?.text;
  assert.ok(text, `docs/deploying.md has a configuration of ${language}`);
  const here = text.replace(':8000', `:${port}`).replace(':8081', `:${one}`).replace(':8082', `:${two}`);
  if (language === 'haproxy') return `global\n  log stdout local0 emerg\n${here}`;
  return `daemon off; pid nginx.pid; events {} http { access_log off; error_log /dev/null; ${here} }`;
}

/** How many of Ada's requests a node has served. */
function countRequests(node: Service): number {
  return node.output.filter((line) => line.includes('"route":"/api/v1/threads"')).length;
}

/** Requests on keep-alive connections, like those of another service. None is sent twice. */
class Load {
  count = 0;
  readonly #failures: string[] = [];
  readonly #loops: Promise<unknown>;
  #stopped = false;

  constructor(url: string, key: string) {
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    const headers = { authorization: `Bearer ${key}` };
    this.#loops = Promise.all(
      Array.from({ length: connections }, async () => {
        while (!this.#stopped) {
          const { status } = await send(url, '/api/v1/threads?limit=1', headers, agent).catch(
            (error: Error) => ({ status: error.message }),
          );
          this.count += 1;
          if (status !== 200) this.#failures.push(`request ${this.count}: ${status}`);
          await pause(pauseMs);
        }
      }),
    );
  }

  async atLeast(count: number): Promise<void> {
    await eventually(
      () => this.count,
      (sent) => sent >= count,
      120_000,
    );
  }

  async stop(): Promise<readonly string[]> {
    this.#stopped = true;
    await this.#loops;
    return this.#failures;
  }
}

const is = (expected: number) => (status: number | undefined) => status === expected;

/** Undefined while nothing listens. */
async function fetchStatus(url: string, path: string): Promise<number | undefined> {
  return (await send(url, path).catch(() => undefined))?.status;
}

interface Received {
  readonly status: number | undefined;
  readonly connection: string | undefined;
}

function send(url: string, path: string, headers = {}, agent?: Agent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { headers, ...(agent && { agent }) }, (response) => {
      response.resume();
      response.once('error', reject);
      response.once('end', () =>
        resolve({ status: response.statusCode, connection: response.headers.connection }),
      );
    });
    sent.once('error', reject);
    sent.end();
  });
}

async function end(proxy: ChildProcess): Promise<void> {
  const exited = once(proxy, 'exit');
  proxy.kill('SIGTERM');
  await exited;
}
