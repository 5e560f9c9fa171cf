import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { waitMsMax } from '../service/eventually.ts';
import type { Service } from '../service/service.ts';
import { statusOfCode } from './conformance.ts';

export interface RawResponse {
  readonly status: number;
  /** Names are in lower case. Repeated fields are joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Thrown if a connection ends or stays silent instead of answering. The message contains what it sent. */
class NoAnswer extends Error {}

/** Shared, because creating one takes longer than the rest of a TLS connection. */
const clientContext = createSecureContext();

/** A TCP connection that sends arbitrary bytes and reads the HTTP answers in order. */
export class RawConnection {
  readonly #socket: Socket;
  /** The underlying TCP connection. With TLS, it is not the socket that is written to. */
  readonly #tcp: Socket;
  #received: Buffer = Buffer.alloc(0);
  #ended = false;
  #changed = Promise.withResolvers<void>();

  private constructor(socket: Socket, tcp: Socket) {
    this.#socket = socket;
    this.#tcp = tcp;
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    // A reset counts as an end. The tests check whether an answer came before it.
    socket.on('error', () => {});
    socket.on('close', () => this.#finish());
    socket.on('end', () => this.#finish());
  }

  static async open({ baseUrl }: Pick<Service, 'baseUrl'>): Promise<RawConnection> {
    const { protocol, hostname, port } = new URL(baseUrl);
    const tcp = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
    const isTls = protocol === 'https:';
    const socket = isTls
      ? connectTls({ socket: tcp, rejectUnauthorized: false, secureContext: clientContext })
      : tcp;
    tcp.on('error', () => {});
    await new Promise<void>((resolve, reject) => {
      socket.once(isTls ? 'secureConnect' : 'connect', resolve).once('error', reject);
    });
    return new RawConnection(socket, tcp);
  }

  send(bytes: string | Uint8Array): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Resolves when the kernel has accepted everything that was sent. Rejects if the connection broke first. */
  async sent(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#socket.write('', (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Half-closes the connection. Answers can still arrive. */
  finish(): void {
    this.#socket.end();
  }

  /** Leaves incoming data in the kernel's buffer. */
  stopReading(): void {
    this.#socket.pause();
  }

  startReading(): void {
    this.#socket.resume();
  }

  /** Ends the connection with a TCP reset, without reading what was received. */
  reset(): void {
    this.#tcp.resetAndDestroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The next answer. `method` is that of its request, because answers to HEAD have no body. */
  async answer(method = 'GET', timeoutMs = waitMsMax): Promise<RawResponse> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const taken = takeAnswer(this.#received, method);
      if (taken !== undefined) {
        this.#received = taken.rest;
        if (taken.answer.status >= 200) return taken.answer;
        continue;
      }
      if (this.#ended) throw new NoAnswer(`the connection ended after ${this.#excerpt()}`);
      if (Date.now() > deadline) throw new NoAnswer(`nothing for ${timeoutMs} ms after ${this.#excerpt()}`);
      await this.#change(deadline - Date.now());
    }
  }

  /** Resolves when anything was received, the other side has closed, or the time is up. */
  async somethingReceived(timeoutMs: number): Promise<void> {
    if (this.#received.length === 0 && !this.#ended) await this.#change(timeoutMs);
  }

  /** Waits for the other side to close. Returns what it sent that was not read yet. */
  async ended(timeoutMs = waitMsMax): Promise<string> {
    const deadline = Date.now() + timeoutMs;
    while (!this.#ended) {
      assert.ok(Date.now() <= deadline, `the connection is still open after ${timeoutMs} ms`);
      await this.#change(deadline - Date.now());
    }
    return this.#received.toString('latin1');
  }

  async #change(timeoutMs: number): Promise<void> {
    const timer = setTimeout(() => this.#wake(), timeoutMs + 1);
    await this.#changed.promise;
    clearTimeout(timer);
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  #finish(): void {
    this.#ended = true;
    this.#wake();
  }

  #excerpt(): string {
    return JSON.stringify(this.#received.toString('latin1').slice(0, 200));
  }
}

/** The answers to requests other than HEAD. Nothing may be left over at the end. */
export function answersIn(received: Buffer): RawResponse[] {
  const answers: RawResponse[] = [];
  for (let rest = received; rest.length > 0; ) {
    const taken = takeAnswer(rest, 'GET');
    assert.ok(taken, `half an answer: ${JSON.stringify(rest.toString('latin1', 0, 200))}`);
    if (taken.answer.status >= 200) answers.push(taken.answer);
    rest = taken.rest;
  }
  return answers;
}

function takeAnswer(received: Buffer, method: string): { answer: RawResponse; rest: Buffer } | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1];
  assert.ok(status, `not a status line: ${JSON.stringify(statusLine.slice(0, 200))}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    assert.notEqual(name, '', `not a header line: ${JSON.stringify(line)}`);
    const before = headers.get(name.toLowerCase());
    headers.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
  }
  const bodyless = method === 'HEAD' || status === '304' || status.startsWith('1');
  const length = bodyless ? 0 : Number(headers.get('content-length'));
  assert.ok(Number.isInteger(length), `an answer without Content-Length: ${statusLine}`);
  const bodyStart = headEnd + 4;
  if (received.length < bodyStart + length) return undefined;
  const body = received.toString('utf8', bodyStart, bodyStart + length);
  return {
    answer: { status: Number(status), headers, body },
    rest: received.subarray(bodyStart + length),
  };
}

/** Fails unless the answer is the envelope of §7 with the code of its status. Returns the message. */
export function assertEnvelope(answer: RawResponse, method = 'GET'): string {
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/);
  assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  if (method === 'HEAD') {
    assert.equal(answer.body, '');
    return '';
  }
  const body = JSON.parse(answer.body);
  assert.deepEqual(Object.keys(body), ['error']);
  assert.deepEqual(Object.keys(body.error).sort(), ['code', 'message', 'trace_id']);
  assert.equal(
    statusOfCode[body.error.code as keyof typeof statusOfCode],
    answer.status,
    `${body.error.code} with ${answer.status}`,
  );
  assert.match(body.error.message, /\S/);
  assert.equal(body.error.trace_id, answer.headers.get('x-request-id'));
  return body.error.message;
}
