import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedInAgain } from '../../harness/console/console-client.ts';
import { ThreadStream } from '../../harness/console/thread-stream.ts';
import { newAddress, sendTokenRequest } from '../../harness/oauth/token-requests.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { type ModelServer, startModelServer } from '../../harness/service/model-server.ts';
import { createThread, startWorld, type World } from '../../harness/world/world.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts';

const callerTrace = '0af7651916cd43dd8448eb211c80319c';
const callerSpan = 'b7ad6b7169203331';

describe('OpenTelemetry', () => {
  let receiver: OtlpReceiver;
  let provider: ModelServer;
  let world: World;

  before(async () => {
    receiver = await startOtlpReceiver();
    provider = await startModelServer();
    world = await startWorld({
      SKEIN_TRUSTED_PROXIES: '127.0.0.1',
      SKEIN_MODEL: 'openai-compatible/loom',
      SKEIN_MODEL_BASE_URL: provider.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_SERVICE_NAME: 'threads',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_METRIC_EXPORT_INTERVAL: '300',
    });
  });
  after(async () => {
    await world.end();
    await provider.close();
    await receiver.close();
  });

  const awaitSpan = (matches: (span: ReceivedSpan) => boolean) =>
    eventually(() => receiver.spans().find(matches)).then((span) => span!);
  const attribute = ({ attributes }: ReceivedSpan, name: string) =>
    attributes.find(({ key }) => key === name)?.value;

  it('shows a request, its store calls, its reply and the model call in the trace that a trusted proxy names', async () => {
    const secret = 'the moon is made of cheese';
    const response = await fetch(`${world.service.baseUrl}/api/v1/threads`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world.adaKey.key}`,
        'content-type': 'application/json',
        traceparent: `00-${callerTrace}-${callerSpan}-01`,
      },
      body: JSON.stringify({ prompt: secret }),
    });
    assert.equal(response.status, 201);
    const requestId = response.headers.get('x-request-id');

    const request = await awaitSpan(({ name }) => name === 'POST /api/v1/threads');
    assert.equal(request.traceId, callerTrace);
    assert.equal(request.parentSpanId, callerSpan);
    assert.deepEqual(request.links ?? [], []);
    assert.equal(attribute(request, 'skein.trace_id')?.stringValue, requestId);
    assert.equal(attribute(request, 'http.response.status_code')?.intValue, 201);
    assert.equal(attribute(request, 'skein.organization')?.stringValue, world.acme);

    const inTrace = (name: string, parent: ReceivedSpan) =>
      awaitSpan(
        (span) => span.traceId === callerTrace && span.name === name && span.parentSpanId === parent.spanId,
      );
    await inTrace('store createThread', request);
    const reply = await inTrace('reply', request);
    const model = await inTrace('model', reply);
    await inTrace('store settleReply', reply);

    const calls = await provider.requests();
    const traceparents = calls.map(({ headers }) => headers.traceparent);
    assert.ok(traceparents.length > 0);
    for (const sent of traceparents) assert.equal(sent, `00-${callerTrace}-${model.spanId}-01`);

    const everything = receiver.all();
    for (const kept of [secret, world.adaKey.key, 'Bearer']) assert.ok(!everything.includes(kept), kept);
  });

  it('starts a trace that links to the given one if the caller is not a trusted proxy', async () => {
    for (const flag of ['00', '01']) {
      const response = await sendTokenRequest(world.service.baseUrl, {
        headers: [['traceparent', `00-${callerTrace}-${callerSpan}-${flag}`]],
        from: newAddress(),
      });
      const traceId = response.headers.get('x-request-id')!.replaceAll('-', '');
      const span = await awaitSpan((one) => one.traceId === traceId && one.name === 'POST /oauth2/token');
      assert.equal(span.parentSpanId, undefined);
      const [link, ...others] = span.links ?? [];
      assert.deepEqual([link?.traceId, link?.spanId, others], [callerTrace, callerSpan, []]);
    }
    const strangers = ({ traceId, name }: ReceivedSpan) =>
      traceId === callerTrace && name === 'POST /oauth2/token';
    assert.deepEqual(receiver.spans().filter(strangers), []);
  });

  it('starts a trace with the id of the request if the caller sends none or a malformed one', async () => {
    for (const traceparent of [undefined, '00-zz-1-01', `00-${'0'.repeat(32)}-${callerSpan}-01`]) {
      const response = await fetch(`${world.service.baseUrl}/api/v1/threads/thr_missing`, {
        headers: { authorization: `Bearer ${world.adaKey.key}`, ...(traceparent && { traceparent }) },
      });
      const { error } = (await response.json()) as { error: { trace_id: string } };
      const traceId = error.trace_id.replaceAll('-', '');
      const span = await awaitSpan(
        (one) => one.traceId === traceId && one.name === 'GET /api/v1/threads/:id',
      );
      assert.equal(span.parentSpanId, undefined);
      assert.equal(attribute(span, 'http.response.status_code')?.intValue, 404);
    }
  });

  it('continues the trace of a request whose body arrives later', async () => {
    const created = await createThread(world.ada, { prompt: 'one' });
    const renamed = await world.ada.rename(created.thread.id, 'Renamed');
    const requestId = renamed.headers.get('x-request-id')!;
    await awaitSpan(
      ({ name, traceId }) => name === 'store renameThread' && traceId === requestId.replaceAll('-', ''),
    );
  });

  it('shows an event stream when it starts', async () => {
    const { thread } = await createThread(world.ada, { prompt: 'one' });
    const client = await signedInAgain(world.service, world.acme, 'ada@acme.example');
    const stream = await ThreadStream.open(client, client.at(`/threads/${thread.id}/events`));
    const traceId = stream.headers.get('x-request-id')!.replaceAll('-', '');
    const span = await awaitSpan((one) => one.traceId === traceId && one.name.startsWith('GET '));
    assert.equal(span.name, 'GET /console/organizations/:organizationId/threads/:id/events');
    assert.equal(attribute(span, 'http.response.status_code')?.intValue, 200);
    await stream.close();
  });

  it('sends the metrics of the Prometheus port, with buckets that add up', async () => {
    const metricNamed = (name: string) =>
      eventually(
        () =>
          receiver
            .metrics()
            .flat()
            .findLast((metric) => metric.name === name),
        (metric) => metric !== undefined,
      );
    const durations = await metricNamed('skein_http_request_duration_seconds');
    for (const { count, bucketCounts, explicitBounds } of durations.histogram.dataPoints) {
      const sum = bucketCounts.reduce((total: number, one: number) => total + Number(one), 0);
      assert.equal(sum, Number(count));
      assert.equal(bucketCounts.length, explicitBounds.length + 1);
    }
    const ended = await metricNamed('skein_replies_ended_total');
    assert.equal(ended.sum.isMonotonic, true);
    assert.ok((await metricNamed('process_resident_memory_bytes')).gauge.dataPoints[0].asDouble > 1e7);
    assert.ok(await metricNamed('skein_store_up'));
    assert.deepEqual([...new Set(receiver.serviceNames())], ['threads']);
  });

  it('does not affect the service if the receiver is gone', async () => {
    await receiver.close();
    const { status } = await world.ada.list();
    assert.equal(status, 200);
    const reports = () =>
      world.service.output.filter((line) => line.includes('failed to export traces or metrics over OTLP'));
    await eventually(reports, ({ length }) => length > 0);
    const { level, err } = JSON.parse(reports()[0]!);
    assert.equal(level, 40);
    assert.match(`${err.code} ${err.message}`, /ECONNREFUSED|timed out/);
    assert.equal(await world.service.end(), 0);
  });
});
