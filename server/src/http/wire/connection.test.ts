import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { fastify } from 'fastify';
import { malformed } from '../error-response.ts';
import { createTraceId } from '../request.ts';
import { createListener } from './listener.ts';

describe('A connection', () => {
  it('parses a limited number of pipelined requests ahead, and responds to all of them', async () => {
    const count = 1000;
    const handled: ServerResponse[] = [];
    const server = createListener((_, response) => handled.push(response), options);
    let parsed = 0;
    let accepted: Socket | undefined;
    server.prependListener('request', () => {
      parsed += 1;
    });
    server.once('connection', (socket: Socket) => {
      accepted = socket;
    });
    const client = connect(await listen(server), '127.0.0.1');
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

  it('sends every byte of a body, small or large, and none for HEAD', async () => {
    const sizes = [1, 256, 4096, 4097, 100_000];
    const bytes = (size: number) => Buffer.from(Array.from({ length: size }, (_, index) => index % 256));
    let sent = 0;
    const server = createListener(({ url, method }, response) => {
      const body = bytes(Number(url!.slice(1)));
      if (method === 'POST') response.end(body, () => (sent += 1));
      else response.end(body);
    }, options);
    const url = `http://127.0.0.1:${await listen(server)}`;
    for (const size of sizes) {
      await (await fetch(`${url}/${size}`, { method: 'POST' })).arrayBuffer();
      const response = await fetch(`${url}/${size}`);
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes(size));
      assert.equal(response.headers.get('content-length'), String(size));
      const head = await fetch(`${url}/${size}`, { method: 'HEAD' });
      assert.equal((await head.arrayBuffer()).byteLength, 0);
    }
    server.close();
    server.closeAllConnections();
    assert.equal(sent, sizes.length, 'a callback is called');
  });

  it('of a client that does not read handles its next request once the kernel has the response, also when it closes', async () => {
    const body = Buffer.alloc(30_000_000, 'x');
    const handled: ServerResponse[] = [];
    const server = createListener((_, response) => {
      handled.push(response);
      response.end(body);
    }, options);
    const client = connect(await listen(server), '127.0.0.1');
    const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
    client.write(request);
    while (handled.length === 0) await setImmediate();
    for (let count = 0; count < 4; count += 1) client.write(request);
    for (let turns = 0; turns < 50; turns += 1) await setImmediate();
    assert.equal(handled.length, 1);
    let received = 0;
    client.on('data', ({ length }) => {
      received += length;
    });
    while (handled.length < 5) await setImmediate();
    client.pause();
    server.close();
    server.closeIdleConnections();
    client.resume();
    await once(client, 'end');
    assert.ok(received > 5 * body.length, 'all responses are complete');
    client.destroy();
  });

  it('closes after its responses if the peer leaves while the beginning of a request waits', async () => {
    const handled: ServerResponse[] = [];
    const server = createListener((_, response) => handled.push(response), options);
    const accepted = once(server, 'connection');
    const client = connect({ port: await listen(server), host: '127.0.0.1', allowHalfOpen: true });
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    while (handled.length === 0) await setImmediate();
    const [socket] = (await accepted) as [Socket];
    const before = socket.bytesRead;
    client.end('P');
    while (socket.bytesRead === before || !socket.readableEnded) await setImmediate();
    handled[0]!.end();
    assert.match(await text(client), /^HTTP\/1\.1 200 [\s\S]*\r\nHTTP\/1\.1 400 /);
    server.close();
  });

  it('keeps the requests that wait while other connections are read', async () => {
    const paths = Array.from({ length: 200 }, (_, index) => `/${index}`);
    const handled: string[] = [];
    const server = createListener(async (request, response) => {
      handled.push(request.url!);
      await setImmediate();
      response.end();
    }, options);
    const port = await listen(server);
    const pipelining = connect(port, '127.0.0.1').resume();
    pipelining.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
    while (handled.length === 0) await setImmediate();
    assert.ok(handled.length < 100, 'requests wait');
    const other = connect(port, '127.0.0.1').resume();
    while (handled.filter((path) => path !== '/0?other').length < paths.length) {
      other.write(`GET /0?other HTTP/1.1\r\nHost: x\r\nX-Padding: ${'x'.repeat(7000)}\r\n\r\n`);
      await setImmediate();
    }
    assert.deepEqual(
      handled.filter((path) => path !== '/0?other'),
      paths,
    );
    pipelining.destroy();
    other.destroy();
    server.close();
  });

  it('stays open after an Upgrade, and responds to what follows it, wherever the data is split', async () => {
    const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk';
    const messages = [
      `GET /1 HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n\r\n`,
      `POST /2 HTTP/1.1\r\nHost: x\r\n${upgrade}\r\nContent-Length: 6\r\n\r\n\r\n\r\nab`,
      `GET /3 HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n\r\n`,
      'GET /4 HTTP/1.1\r\nHost: x\r\n\r\n',
    ].join('');
    const handled: string[] = [];
    const server = createListener(async (request, response) => {
      handled.push(`${request.url} ${await text(request)}`);
      response.end();
    }, options);
    const port = await listen(server);
    for (let at = 1; at <= messages.length; at += 1) {
      handled.length = 0;
      const accepted = once(server, 'connection');
      const client = connect(port, '127.0.0.1');
      let received = '';
      client.setNoDelay(true).on('data', (data) => {
        received += data;
      });
      client.write(messages.slice(0, at));
      const [socket] = (await accepted) as [Socket];
      while (socket.bytesRead < at) await setImmediate();
      client.write(messages.slice(at));
      while (received.split('HTTP/1.1 200').length <= 4 && !client.closed) await setImmediate();
      assert.deepEqual(handled, ['/1 ', '/2 \r\n\r\nab', '/3 ', '/4 '], `split at ${at}`);
      assert.doesNotMatch(received, /connection: close/i);
      client.destroy();
    }
    server.close();
  });

  it('stays open after an Upgrade with a chunked body, and after an Upgrade that follows one', async () => {
    const upgrade = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
    const chunked = 'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n';
    const handled: string[] = [];
    const server = createListener((request, response) => {
      handled.push(request.url!);
      request.resume().on('end', () => response.end());
    }, options);
    const port = await listen(server);
    const last = 'GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    for (const sent of [
      `POST /1 HTTP/1.1\r\n${upgrade}${chunked}GET /2 HTTP/1.1\r\nHost: x\r\n\r\n${last}`,
      `POST /1 HTTP/1.1\r\nHost: x\r\n${chunked}GET /2 HTTP/1.1\r\n${upgrade}\r\n${last}`,
    ]) {
      handled.length = 0;
      const client = connect(port, '127.0.0.1');
      client.write(sent);
      assert.equal((await text(client)).split('HTTP/1.1 200').length, 4);
      assert.deepEqual(handled, ['/1', '/2', '/3']);
    }
    server.close();
  });

  it('that ends after CONNECT leaves the parser to the next connection that uses it', async () => {
    const server = createListener((_, response) => response.end(), options);
    const port = await listen(server);
    const connecting = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    connecting.write('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(connecting.resume(), 'end');
    const accepted = once(server, 'connection');
    const other = connect(port, '127.0.0.1');
    other.write('GET / HTTP/1.1\r\n');
    const [socket] = (await accepted) as [Socket];
    while (socket.bytesRead === 0) await setImmediate();
    connecting.end();
    await once(connecting, 'close');
    other.write('Host: x\r\nConnection: close\r\n\r\n');
    assert.match(await text(other), /^HTTP\/1.1 200/);
    server.close();
  });

  it('that ends before the first byte of a streamed response gets no error as its response', async () => {
    const errors: unknown[] = [];
    const stream = new Readable({ read() {} });
    const app = fastify({ serverFactory: (handle) => createListener(handle, options) });
    app.setErrorHandler((error, _, reply) => {
      errors.push(error);
      return reply.send('');
    });
    app.get('/', (_, reply) => reply.send(stream));
    await app.listen({ port: 0, host: '127.0.0.1' });
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(stream, 'resume');
    client.resetAndDestroy();
    await once(stream, 'close');
    await setImmediate();
    assert.deepEqual(errors, []);
    await app.close();
  });

  it('ends when its peer does not read, also after a silence in which it had nothing to read', async () => {
    const handled: ServerResponse[] = [];
    const limits = { requestTimeoutMs: 200 };
    const server = createListener((_, response) => handled.push(response), { ...options, limits });
    const accepted = once(server, 'connection');
    const client = connect(await listen(server), '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [socket] = (await accepted) as [Socket];
    await once(socket, 'timeout');
    client.pause();
    handled[0]!.end(Buffer.alloc(30_000_000));
    await once(socket, 'close');
    assert.equal(handled[0]!.writableFinished, false);
    client.destroy();
    server.close();
  });

  it('is closed if its peer does not begin the TLS handshake in time', async () => {
    const [cert, key] = ['certificate', 'key'].map((name) =>
      readFileSync(join(import.meta.dirname, `../../../../tests/stand-ins/localhost-${name}.pem`)),
    ) as [Buffer, Buffer];
    const server = createListener(() => {}, {
      ...options,
      tls: { cert, key },
      limits: { requestTimeoutMs: 200 },
    });
    const client = connect(await listen(server), '127.0.0.1').resume();
    await once(client, 'close');
    server.close();
  });

  it('takes the next request when a body that was paused is read after the response', async () => {
    const server = createListener((request, response) => {
      if (request.method === 'GET') return void response.end();
      const { socket } = request;
      request.once('data', async () => {
        request.pause();
        client.write('x'.repeat(request.readableHighWaterMark));
        while (!socket.isPaused()) await setImmediate();
        client.write('last');
        while (socket.readableLength === 0) await setImmediate();
        response.once('close', () => request.resume()).end();
      });
    }, options);
    const client = connect(await listen(server), '127.0.0.1');
    client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 65545\r\n\r\nfirst');
    await once(client, 'data');
    client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    assert.match(await text(client), /^HTTP\/1\.1 200 /);
    server.close();
  });

  for (const [what, status, handle] of [
    ['rejects a body that its peer cut off', 400, (request) => request.resume()],
    [
      'sends an error that was decided before its peer cut off the body',
      401,
      (_, response) => {
        response.statusCode = 401;
        void setTimeout(20).then(() => response.end());
      },
    ],
  ] as [string, number, RequestListener][]) {
    it(`${what}, with and without an Upgrade header`, async () => {
      const server = createListener(handle, options);
      const port = await listen(server);
      for (const upgrade of ['', 'Connection: Upgrade\r\nUpgrade: websocket\r\n']) {
        for (const framing of ['Content-Length: 4\r\n\r\nab', 'Transfer-Encoding: chunked\r\n\r\n2\r\nab']) {
          const client = connect({ port, allowHalfOpen: true });
          client.end(`POST / HTTP/1.1\r\nHost: x\r\n${upgrade}${framing}`);
          assert.equal((await text(client)).slice(9, 12), `${status}`, `${upgrade}${framing}`);
        }
      }
      server.close();
    });
  }

  it('sends an error that was decided before the rest of the body turned out malformed, and closes', async () => {
    const handled: ServerResponse[] = [];
    const server = createListener((_, response) => handled.push(response), options);
    const client = connect(await listen(server), '127.0.0.1');
    client.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    while (handled.length === 0) await setImmediate();
    handled[0]!.statusCode = 401;
    client.write('not a chunk\r\n');
    while (!handled[0]!.hasHeader('connection')) await setImmediate();
    handled[0]!.setHeader('content-length', 2).end('No');
    const received = await text(client);
    assert.match(received, /^HTTP\/1\.1 401 .*\r\n(?:.+\r\n)*connection: close\r\n(?:.+\r\n)*\r\nNo$/i);
    server.close();
  });

  it('does not mix up the bodies of connections that are read in turns', async () => {
    const bodies = new Map<string, Promise<string>>();
    const receive: RequestListener = (request) => bodies.set(request.url!, text(request));
    const server = createListener(receive, options);
    const port = await listen(server);
    const clients = ['a', 'b'].map((name) => ({ name, socket: connect(port, '127.0.0.1') }));
    for (const { name, socket } of clients)
      socket.write(`POST /${name} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n`);
    while (bodies.size < clients.length) await setImmediate();
    for (let sent = 0; sent < 100_000; sent += 1000) {
      for (const { name, socket } of clients) socket.write(name.repeat(1000));
      await setImmediate();
    }
    for (const { name } of clients) assert.equal(await bodies.get(`/${name}`), name.repeat(100_000));
    for (const { socket } of clients) socket.destroy();
    server.close();
  });

  it('parses the bytes of a body that arrive in one chunk each in turns', async () => {
    const body = Array.from({ length: 20_000 }, (_, index) => String.fromCharCode(97 + (index % 26))).join(
      '',
    );
    let [turn, received] = [0, ''];
    const turns: number[] = [];
    const server = createListener((request, response) => {
      turns.push(turn);
      request.setEncoding('latin1').on('data', (piece: string) => {
        received += piece;
      });
      request.on('end', () => {
        turns.push(turn);
        response.end();
      });
    }, options);
    const client = connect(await listen(server), '127.0.0.1');
    const chunks = [...body].map((letter) => `1\r\n${letter}\r\n`).join('');
    client.write(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    client.write('POST /next HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n');
    for (; received.length < body.length; turn += 1) await setImmediate();
    client.write('n'.repeat(5000));
    while (received.length < body.length + 5000) await setImmediate();
    assert.equal(received, body + 'n'.repeat(5000));
    assert.ok(turns[1]! - turns[0]! >= 15, `turns ${turns}`);
    client.destroy();
    server.close();
  });

  it('reads a body once, in whatever pieces it arrives', async () => {
    const received: Promise<string>[] = [];
    const server = createListener((request, response) => {
      received.push(text(request).finally(() => response.end()));
    }, options);
    const port = await listen(server);
    for (const [length, piece] of [
      [600, 300],
      [650, 179],
      [1100, 512],
      [1100, 511],
      [513, 1],
    ] as const) {
      const socket = connect(port, '127.0.0.1').setNoDelay();
      const body = Array.from({ length }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
      for (let from = 0; from < length; from += piece) {
        await setTimeout(2);
        socket.write(body.slice(from, from + piece));
      }
      while (received.length === 0) await setTimeout(1);
      assert.equal(await received.shift(), body);
      socket.destroy();
    }
    assert.equal(received.length, 0, 'no body was taken for another request');
    server.close();
  });
});

describe('A trace ID', () => {
  it('is a UUID of version 7 that is unique, even within one millisecond', ({ mock }) => {
    mock.method(Date, 'now', () => Date.UTC(2026, 10, 15));
    const ids = Array.from({ length: 20_000 }, createTraceId);
    for (const id of ids)
      assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    assert.equal(new Set(ids).size, ids.length);
  });
});

const options = { tls: undefined, refuse: malformed, limits: { requestTimeoutMs: 30_000 } };

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
