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
  otlp.tracing!.request!('00000000-0000-7000-8000-000000000001', 'GET', {}).end('/', 200, {});
  const error = (await failure) as Error & { code: number };
  assert.deepEqual([error.message, error.code], ['Bad Request', 400]);
  assert.doesNotMatch(JSON.stringify(error, Object.getOwnPropertyNames(error)), /secret/);
  await otlp.close();
});
