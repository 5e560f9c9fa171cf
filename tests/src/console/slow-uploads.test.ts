import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type SettingsWorld, startSettingsWorld } from '../../harness/console/settings-world.ts';
import { assertDone, type Visitor } from '../../harness/console/visitor.ts';
import { RawConnection } from '../../harness/http/raw-http.ts';

const file = '# Parcels\n\nThey leave on Tuesdays.\n';
const half = file.length / 2;

describe('A body that arrives slowly', () => {
  let world: SettingsWorld;
  before(async () => {
    world = await startSettingsWorld({ SKEIN_REQUEST_TIMEOUT_MS: '1000' });
  });
  after(() => world?.end());

  /** The head of a request and half of its body. */
  async function begin({ client }: Visitor, path: string, type: string): Promise<RawConnection> {
    const connection = await RawConnection.open(world.service);
    const cookies = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const head = [
      `POST /console/organizations/${world.acme}${path} HTTP/1.1`,
      'Host: skein.test',
      `Cookie: ${cookies}`,
      `X-Skein-Csrf: ${client.csrfToken}`,
      `Content-Type: ${type}`,
      `Content-Length: ${file.length}`,
    ];
    connection.send(`${head.join('\r\n')}\r\n\r\n${file.slice(0, half)}`);
    return connection;
  }

  const upload = (visitor: Visitor, name: string) =>
    begin(visitor, `/documents?name=${name}`, 'application/octet-stream');

  it('is accepted only if it is a document that an admin uploads', async () => {
    const document = await upload(world.ada, 'parcels.md');
    const other = await begin(world.ada, '/keys', 'application/json');
    const refusal = await other.answer('POST');
    assert.equal(refusal.status, 400);
    assert.match(refusal.body, /Timed out waiting for the request/);
    await other.ended();
    // The upload started before the body that timed out, and continues after it.
    document.send(file.slice(half));
    assert.equal((await document.answer('POST')).status, 201);
    document.close();
    const { documents } = assertDone(await world.ada.get('/documents'));
    assert.deepEqual(
      documents.map(({ name }: { name: string }) => name),
      ['parcels.md'],
    );
  });

  it('is rejected at once if its sender may not upload documents', async () => {
    const connection = await upload(world.ben, 'notes.md');
    assert.equal((await connection.answer('POST')).status, 403);
    assert.equal(await connection.ended(), '', 'the connection ends without another word');
  });
});
