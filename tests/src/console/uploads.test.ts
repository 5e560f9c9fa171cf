import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type SettingsWorld, startSettingsWorld } from '../../harness/console/settings-world.ts';
import { assertDone, assertRefused, type Visitor } from '../../harness/console/visitor.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { Service } from '../../harness/service/service.ts';

const limits = {
  SKEIN_ORGANIZATION_DOCUMENTS_MAX: '3',
  SKEIN_ORGANIZATION_BYTES_MAX: '1000',
  SKEIN_DOCUMENT_READ_MS: '6000',
};

/** The process in which this service reads files. */
function findReader(service: number): number {
  const isReader = (pid: string) => {
    const [, parent] = /\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!;
    return (
      Number(parent) === service && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('reading-process')
    );
  };
  const readers = readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && isReader(name);
    } catch {
      return false; // It has exited.
    }
  });
  assert.equal(readers.length, 1);
  return Number(readers[0]);
}

/** An upload whose body the test sends step by step. */
class OpenUpload {
  readonly #request: ClientRequest;
  /** Whether the service has asked for the body. */
  isContinued = false;
  readonly answer: Promise<{ status: number; message: string; headers: IncomingMessage['headers'] }>;

  constructor({ client }: Visitor, name: string, contentLength: number) {
    const url = new URL(`/console${client.at(`/documents?name=${name}`)}`, client.baseUrl);
    const cookie = [...client.cookies].map(([key, value]) => `${key}=${value}`).join('; ');
    this.#request = request(url, {
      method: 'POST',
      headers: {
        cookie,
        'x-skein-csrf': client.csrfToken,
        'content-type': 'application/octet-stream',
        'content-length': contentLength,
        expect: '100-continue',
      },
    });
    this.#request.once('continue', () => {
      this.isContinued = true;
    });
    this.answer = new Promise((resolve, reject) => {
      this.#request.once('error', reject).once('response', (response) => {
        const chunks: Buffer[] = [];
        response
          .on('data', (chunk) => chunks.push(chunk))
          .once('end', () => {
            const body = JSON.parse(Buffer.concat(chunks).toString());
            resolve({
              status: response.statusCode!,
              message: body.error?.message ?? '',
              headers: response.headers,
            });
          });
      });
    });
    this.answer.catch(() => {});
    this.#request.flushHeaders();
  }

  send(text: string): void {
    this.#request.write(text);
  }

  abort(): void {
    this.#request.destroy();
  }
}

describe('Uploads in the console', () => {
  let world: SettingsWorld;
  before(async () => {
    world = await startSettingsWorld(limits);
  });
  after(() => world?.end());

  const listFiles = (service: Service) => {
    const folder = join(service.folder, 'data');
    return readdirSync(folder)
      .filter((name) => name.startsWith('.skein-upload-'))
      .map((name) => join(folder, name));
  };
  const untilFiles = (count: number, service = world.service) =>
    eventually(
      async () => listFiles(service),
      (files) => files.length === count,
    );

  it("are rejected above the organization's budget, and the page shows how much is used", async () => {
    const put = (name: string, text: string) => world.ada.upload({ name }, text);
    assertDone(await put('one.md', 'x'.repeat(600)), 201);
    assertRefused(
      await put('two.md', 'x'.repeat(500)),
      400,
      /^two\.md exceeds the organization's limit of 1000 bytes of text\. Remove documents first\.$/,
    );
    for (const name of ['two.md', 'three.md']) assertDone(await put(name, 'x'), 201);
    assertRefused(
      await put('four.md', 'x'),
      400,
      /^four\.md exceeds the organization's limit of 3 documents\. Remove/,
    );
    assertDone(await put('one.md', 'y'.repeat(500)), 201);
    const { storage, documents } = assertDone(await world.ada.get('/documents'));
    assert.deepEqual(storage, { documents: 3, documentsMax: 3, bytes: 502, bytesMax: 1_000 });
    for (const { id } of documents) assertDone(await world.ada.post('/documents/remove', { ids: [id] }));
  });

  it('run two at a time for an organization: the third is rejected before its body is sent', async () => {
    const running = ['a.md', 'b.md'].map((name) => new OpenUpload(world.ada, name, 10));
    for (const upload of running) upload.send('Some ');
    for (const file of await untilFiles(2)) assert.equal(statSync(file).mode & 0o777, 0o600);
    const third = new OpenUpload(world.ada, 'c.md', 50_000_000);
    const { status, headers, message } = await third.answer;
    assert.equal(status, 429);
    assert.equal(headers['retry-after'], '5');
    assert.equal(third.isContinued, false);
    assert.match(
      message,
      /^Your organization already has 2 uploads in progress\. Try again when one finishes\.$/,
    );
    assertDone(await world.eve.upload({ name: 'other.md' }, 'Of another organization.'), 201);
    for (const upload of running) upload.send('text.');
    for (const upload of running) {
      assert.equal((await upload.answer).status, 201);
      assert.ok(upload.isContinued);
    }
    assertDone(await world.ada.upload({ name: 'c.md' }, 'Some text.'), 201);
    assert.deepEqual(listFiles(world.service), []);
  });

  it('free their slot and leave no file when the client aborts them, and log no error', async () => {
    const { output } = world.service;
    const startedAt = new Date().toISOString();
    for (let round = 0; round < 2; round += 1) {
      const running = ['d.md', 'e.md'].map((name) => new OpenUpload(world.ada, name, 1_000));
      for (const upload of running) upload.send('Some ');
      await untilFiles(2);
      for (const upload of running) upload.abort();
      await untilFiles(0);
    }
    const outcome = await eventually(
      () => world.ada.upload({ name: 'a.md' }, 'Some text.'),
      ({ status }) => status !== 429,
    );
    assertDone(outcome, 201);
    const refused = /"method":"POST","route":"[^"]*\/documents","status":400,/;
    // A line of an earlier request may still be on its way from the service.
    const isOwn = (line: string) => refused.test(line) && JSON.parse(line).time > startedAt;
    await eventually(
      async () => output.filter(isOwn),
      (lines) => lines.length === 4,
    );
    assert.ok(!output.some((line) => line.includes('"level":50')));
  });

  it('stop at the time limit when a file keeps its reader busy, while other files are read', async () => {
    assertDone(await world.ada.upload({ name: 'a.md' }, 'Some text.'), 201);
    // The process that has read this file is kept for the next one.
    process.kill(findReader(world.service.pid), 'SIGSTOP');
    const hostile = world.ada.upload({ name: 'a.md' }, 'Some other text.');
    let isDone = false;
    void hostile.then(() => {
      isDone = true;
    });
    assertDone(await world.eve.upload({ name: 'other.md' }, 'Twenty-two bytes here.'), 201);
    assert.ok(!isDone, 'the first file is still being read');
    assertRefused(await hostile, 400, /^a\.md takes longer than 6 s to read\.$/);
    assertDone(await world.ada.upload({ name: 'a.md' }, 'Some other text.'), 201);
  });

  it('leave nothing behind at the next start when the service is killed', async () => {
    const upload = new OpenUpload(world.ada, 'a.md', 1_000);
    upload.send('Some ');
    await untilFiles(1);
    await world.service.end('SIGKILL');
    assert.equal(listFiles(world.service).length, 1);
    const next = await Service.start({
      folder: world.service.folder,
      environment: { SKEIN_MODEL: 'scripted' },
    });
    assert.deepEqual(listFiles(next), []);
    await next.end();
  });
});
