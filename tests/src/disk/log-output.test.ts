import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { SmallDisk, skipWithoutMounts } from '../../harness/disk/small-disk.ts';
import { RawConnection } from '../../harness/http/raw-http.ts';
import { Scrape } from '../../harness/http/scrape.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { freePort } from '../../harness/service/machine.ts';
import { cleanEnvironment, launcher, operate, temporaryFolder } from '../../harness/service/service.ts';

/** More lines than the service buffers while its output is blocked: 1 MiB, at 200 bytes or more per line. */
const tooManyRequests = 8_000;
const pipelined = 20;

const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** A service whose standard output is the file `output`, a descriptor. It has an organization, so it prints no greeting. */
async function startLoggingTo(output: number) {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const folder = temporaryFolder();
  await operate(folder, ['org', 'create', 'First']);
  const child = spawn(launcher, ['serve'], {
    cwd: folder,
    env: cleanEnvironment({ SKEIN_PORT: String(port), SKEIN_METRICS_PORT: String(metricsPort) }),
    stdio: ['ignore', output, 'inherit'],
  });
  closeSync(output);
  running.add(child);
  const exited = once(child, 'exit').then(([code, signal]) => {
    running.delete(child);
    return code ?? signal;
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${baseUrl}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await eventually(async () => child.exitCode === null && isReady());
  return {
    /** Fails unless every request gets a response. */
    async request(count: number): Promise<void> {
      const connection = await RawConnection.open({ baseUrl });
      for (let sent = 0; sent < count; sent += pipelined) {
        connection.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(pipelined));
        for (let one = 0; one < pipelined; one += 1) assert.equal((await connection.answer()).status, 200);
      }
      connection.close();
    },
    async droppedLines(): Promise<number> {
      const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
      return new Scrape(await response.text()).value('skein_log_lines_dropped_total');
    },
    stop(): Promise<number | NodeJS.Signals> {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

describe('A log that cannot be written', () => {
  it('fails no request when the disk never accepts a line, and does not delay the stop', async () => {
    const service = await startLoggingTo(openSync('/dev/full', 'w'));
    await service.request(tooManyRequests);
    assert.ok((await service.droppedLines()) > 0);
    assert.equal(await service.stop(), 0);
  });

  it('resumes by itself when its full disk has room again', { skip: skipWithoutMounts }, async () => {
    const disk = new SmallDisk(512);
    const file = join(disk.folder, 'log');
    const service = await startLoggingTo(openSync(file, 'a'));
    // It answers requests before it is ready, and that line must not be written onto the full disk.
    await eventually(() => readFileSync(file, 'utf8').includes('"ready"'));
    disk.fill();
    await service.request(tooManyRequests);
    const dropped = await service.droppedLines();
    assert.ok(dropped > 0);
    spawnSync('mount', ['-o', 'remount,size=8m', disk.folder]);
    await eventually(() => readFileSync(file, 'utf8').includes('dropped log lines'));
    await service.request(20);
    assert.equal(await service.droppedLines(), dropped, 'none is dropped any more');
    assert.equal(await service.stop(), 0);
    const lines = logLines(file);
    assert.equal(lines.find(({ msg }) => msg.startsWith('dropped log lines'))?.lines, dropped);
    assert.equal(lines.at(-1)?.msg, 'stopped');
  });

  it('delays no request while the reader of its pipe is stuck or gone', async () => {
    const folder = temporaryFolder();
    const [pipe, file] = [join(folder, 'pipe'), join(folder, 'log')];
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    const reader = spawn('sh', ['-c', 'exec cat pipe > log'], { cwd: folder });
    running.add(reader);
    // Also opened for reading, so that opening does not wait for a reader.
    const both = openSync(pipe, constants.O_RDWR);
    const service = await startLoggingTo(openSync(pipe, 'w'));
    closeSync(both);
    await eventually(() => readFileSync(file, 'utf8').includes('"ready"'));
    reader.kill('SIGSTOP');
    await service.request(tooManyRequests);
    assert.ok((await service.droppedLines()) > 0);
    reader.kill('SIGCONT');
    await eventually(() => readFileSync(file, 'utf8').includes('dropped log lines'));
    assert.ok(logLines(file).length > 100);

    reader.kill('SIGKILL');
    await once(reader, 'exit');
    running.delete(reader);
    await service.request(20);
    assert.equal(await service.stop(), 0);
  });

  it('does not keep the service from stopping while the reader of its pipe is stuck', async () => {
    const folder = temporaryFolder();
    const pipe = join(folder, 'pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    // Never read.
    const both = openSync(pipe, constants.O_RDWR);
    const service = await startLoggingTo(openSync(pipe, 'w'));
    // Twice what the pipe holds.
    await service.request(1_000);
    assert.equal(await service.stop(), 0);
    closeSync(both);
  });
});

/** Each line is whole JSON. */
function logLines(file: string): { msg: string; lines?: number }[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}
