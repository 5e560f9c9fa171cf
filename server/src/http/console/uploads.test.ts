import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { OrganizationId } from '../../domain/id.ts';
import { defaultLimits } from '../../domain/limits.ts';
import type { ConsoleOptions } from './route.ts';
import { uploadReceiver } from './uploads.ts';

const mebibyte = 1_048_576;

describe('Receiving an upload', () => {
  const uploadFolder = mkdtempSync(join(tmpdir(), 'skein-upload-'));
  after(() => rmSync(uploadFolder, { recursive: true, force: true }));

  it('reads no more than 1 MiB between two pauses, however fast the caller sends', async (test) => {
    let sent = 0;
    const body = Readable.from(
      (function* () {
        for (; sent < 5 * mebibyte; sent += 65_536) yield Buffer.alloc(65_536, sent);
      })(),
      { objectMode: false },
    );
    const headers = { 'content-type': 'application/octet-stream', 'transfer-encoding': 'chunked' };
    const request = { headers, raw: Object.assign(body, { headers }), body };
    const call = {
      organizationId: 'org_1' as OrganizationId,
      reply: { request },
      recheck: async () => {},
    } as unknown as Parameters<ReturnType<typeof uploadReceiver>>[0];
    const receive = uploadReceiver({ limits: defaultLimits, uploadFolder } as ConsoleOptions);
    test.mock.timers.enable({ apis: ['setTimeout'] });
    let size: number | undefined;
    const received = receive(call, async (path) => {
      size = statSync(path).size;
    });
    for (let pauses = 0; pauses < 5; pauses += 1) {
      // A file that is slow to write looks still, too.
      while (sent < (pauses + 1) * mebibyte) await untilStill(() => sent);
      await untilStill(() => sent);
      assert.equal(size, undefined);
      // The stream reads a few chunks ahead.
      assert.ok(sent >= (pauses + 1) * mebibyte && sent < (pauses + 1.5) * mebibyte, `${sent}`);
      test.mock.timers.tick(20);
    }
    await received;
    assert.equal(size, 5 * mebibyte);
  });
});

/** Waits until the value has not changed for many turns of the event loop, in which files are written, too. */
async function untilStill(value: () => number): Promise<void> {
  for (let before = value(), still = 0; still < 2_000; still += 1) {
    await turn();
    if (value() !== before) [before, still] = [value(), 0];
  }
}
