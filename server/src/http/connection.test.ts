import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createListener } from './listener.ts';

describe('A connection', () => {
  it('parses no more pipelined requests than may wait, however many it has read, and answers all', async () => {
    const count = 1000;
    const handled: ServerResponse[] = [];
    const { server } = createListener((_, response) => handled.push(response), {
      tls: undefined,
      refused: () => {},
      limits: { requestTimeoutMs: 30_000 },
    });
    let parsed = 0;
    let accepted: Socket | undefined;
    server.prependListener('request', () => {
      parsed += 1;
    });
    server.once('connection', (socket: Socket) => {
      accepted = socket;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let received = '';
    client.on('data', (data) => {
      received += data;
    });
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count));
    while (handled.length === 0) await setImmediate();
    assert.ok(accepted!.bytesRead > 10_000, 'many requests were read');
    assert.ok(parsed < 30, `${parsed} requests were parsed`);
    for (let answered = 0; answered < count; answered += 1) {
      while (handled.length === answered) await setImmediate();
      handled[answered]!.end();
    }
    while (received.split('HTTP/1.1 200').length <= count) await setImmediate();
    client.destroy();
    server.close();
  });
});
