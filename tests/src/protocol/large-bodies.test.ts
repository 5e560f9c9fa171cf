import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RawConnection } from '../../harness/http/raw-http.ts';
import { untilScraped } from '../../harness/http/scrape.ts';
import { waitMsMax } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { type IssuedKey, makeMember, makeOrganization } from '../../harness/world/tenants.ts';

const largeBodiesMax = 64;
const body = JSON.stringify({ prompt: 'x'.repeat(90_000) });

/** A create that sends its body when the service asks for it. */
class LargeCreate {
  readonly connection: RawConnection;
  /** Whether the service has asked for the body. */
  isAsked = false;
  readonly asked: Promise<void>;

  private constructor(connection: RawConnection) {
    this.connection = connection;
    this.asked = connection.somethingReceived(waitMsMax).then(() => {
      this.isAsked = true;
    });
  }

  static async begin(service: Service, { key }: IssuedKey): Promise<LargeCreate> {
    const connection = await RawConnection.open(service);
    const head = [
      'POST /api/v1/threads HTTP/1.1',
      'Host: skein.test',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
    ];
    connection.send(`${head.join('\r\n')}\r\n\r\n`);
    return new LargeCreate(connection);
  }

  async finish(): Promise<number> {
    await this.asked;
    this.connection.send(body);
    const { status } = await this.connection.answer('POST');
    this.connection.close();
    return status;
  }
}

describe('Large bodies of one organization', () => {
  let service: Service;
  let ada: IssuedKey;
  let eve: IssuedKey;
  before(async () => {
    // Bodies that a busy machine sends slowly do not time out.
    service = await startWithoutDemo({ SKEIN_REQUEST_TIMEOUT_MS: '300000', SKEIN_METRICS_PORT: '0' });
    ada = await makeMember(service, await makeOrganization(service, 'Acme'), 'ada@acme.example');
    eve = await makeMember(service, await makeOrganization(service, 'Umbra'), 'eve@umbra.example');
  });
  after(() => service?.end());

  async function beginMany(count: number): Promise<LargeCreate[]> {
    return Promise.all(Array.from({ length: count }, () => LargeCreate.begin(service, eve)));
  }

  it('are received up to the limit; others wait for their turn', async () => {
    const received = await beginMany(largeBodiesMax);
    await Promise.all(received.map(({ asked }) => asked));
    const waiting = await beginMany(3);
    const [gone] = waiting.splice(0, 1) as [LargeCreate];
    assert.equal((await eve.api.create({ prompt: 'A small one' })).status, 201);
    assert.equal(await (await LargeCreate.begin(service, ada)).finish(), 201, 'another organization');
    assert.deepEqual(
      [gone, ...waiting].map(({ isAsked }) => isAsked),
      [false, false, false],
    );
    gone.connection.reset();
    for (const one of [...received, ...waiting]) assert.equal(await one.finish(), 201);

    const again = await beginMany(largeBodiesMax);
    for (const one of again) assert.equal(await one.finish(), 201);
    await untilScraped(service, (scraped) => scraped.value('skein_http_requests_in_flight') === 0);
  });

  it('are accepted after they waited behind others that stall', async () => {
    const impatient = await startWithoutDemo({ SKEIN_REQUEST_TIMEOUT_MS: '2000' });
    try {
      const lin = await makeMember(impatient, await makeOrganization(impatient, 'Acme'), 'lin@acme.example');
      const stalled = Array.from({ length: largeBodiesMax }, () => LargeCreate.begin(impatient, lin));
      await Promise.all((await Promise.all(stalled)).map(({ asked }) => asked));
      assert.equal((await lin.api.create({ prompt: 'x'.repeat(90_000) })).status, 201);
    } finally {
      await impatient.end();
    }
  });
});
