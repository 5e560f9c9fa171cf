import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, it } from 'node:test';
import { openOtlp } from './open.ts';

const options = {
  traces: true,
  metrics: false,
  metricsEveryMs: 60_000,
  sampler: 'always_on',
  samplerArgument: '1',
  spanDelayMs: 1,
};

it('reports a rejected export without the response of the receiver', async () => {
  const receiver = createServer((request, response) => {
    request.resume();
    response.writeHead(400).end('secret');
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  after(() => receiver.close());
  const { port } = receiver.address() as AddressInfo;
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${port}`;
  const { promise: failure, resolve } = Promise.withResolvers<unknown>();
  const otlp = openOtlp(options, '0.0.0', resolve);
  otlp.tracing!.request!('00000000-0000-7000-8000-000000000001', 'GET', {}, false).end('/', 200, {});
  const error = (await failure) as Error & { code: number };
  assert.deepEqual([error.message, error.code], ['Bad Request', 400]);
  assert.doesNotMatch(JSON.stringify(error, Object.getOwnPropertyNames(error)), /secret/);
  await otlp.close();
});

const trace = '0af7651916cd43dd8448eb211c80319c';
const requestId = '00000000-0000-7000-8000-000000000002';

/** The `traceparent` of what a request causes, if it arrives with the sampling flag of this one. */
async function continued(sampler: string, flag: '00' | '01', fromTrustedProxy: boolean): Promise<string> {
  const { tracing, close } = openOtlp({ ...options, sampler }, '0.0.0', () => {});
  const headers = { traceparent: `00-${trace}-b7ad6b7169203331-${flag}` };
  const span = tracing!.request!(requestId, 'GET', headers, fromTrustedProxy);
  const { traceparent = '' } = span.run(() => tracing!.headers());
  await close();
  return traceparent.replace(/-[0-9a-f]{16}-/, '-*-');
}

it('continues the trace of a trusted proxy, and samples as it does', async () => {
  for (const flag of ['00', '01'] as const)
    assert.equal(await continued('parentbased_always_on', flag, true), `00-${trace}-*-${flag}`);
});

it('starts a trace for everyone else, whose sampling flag has no effect', async () => {
  const own = requestId.replaceAll('-', '');
  for (const flag of ['00', '01'] as const) {
    assert.equal(await continued('parentbased_always_on', flag, false), `00-${own}-*-01`);
    assert.equal(await continued('parentbased_always_off', flag, false), `00-${own}-*-00`);
  }
});
