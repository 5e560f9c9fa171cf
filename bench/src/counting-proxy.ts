import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A statement that passed through, with its prepared name and the time from request to response. */
export interface SentStatement {
  readonly statement: string;
  readonly sentMs: number;
  answeredMs: number;
}

export interface CountingProxy {
  /** The URL of the database through the proxy. */
  readonly url: string;
  /** Returns the statements since the last call. */
  take(): SentStatement[];
  close(): void;
}

/**
 * A proxy between a node and PostgreSQL. It reads the statement names from the protocol (message formats:
 * https://www.postgresql.org/docs/current/protocol-message-formats.html) and delays every response, so that concurrent
 * statements visibly overlap.
 */
export async function startCountingProxy(databaseUrl: string, holdMs: number): Promise<CountingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let statements: SentStatement[] = [];
  const server = createServer({ noDelay: true }, (client) => {
    const database = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    const pending: SentStatement[] = [];
    const requests = messageReader(true, (type, body) => {
      if (type !== 'B') return;
      const sent = { statement: readStatementName(body), sentMs: performance.now(), answeredMs: Infinity };
      statements.push(sent);
      pending.push(sent);
    });
    const answers = messageReader(false, (type) => {
      if (type !== 'Z') return;
      const answered = pending.shift();
      if (answered !== undefined) answered.answeredMs = performance.now();
    });
    client.on('data', (data) => {
      requests(data);
      database.write(data);
    });
    database.on('data', (data) => {
      setTimeout(() => {
        answers(data);
        client.write(data);
      }, holdMs);
    });
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    take() {
      const taken = statements;
      statements = [];
      return taken;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** A message is a letter, a length that includes itself, and a body. A client's first message has no letter. */
function messageReader(
  startsUntyped: boolean,
  each: (type: string, body: Buffer) => void,
): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  let untyped = startsUntyped;
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const header = untyped ? 0 : 1;
      if (rest.length < header + 4) return;
      const length = header + rest.readInt32BE(header);
      if (rest.length < length) return;
      if (!untyped) each(String.fromCharCode(rest[0]!), rest.subarray(5, length));
      untyped = false;
      rest = rest.subarray(length);
    }
  };
}

/** A Bind message starts with the portal's name and the statement's name, each terminated by a zero byte. */
function readStatementName(bind: Buffer): string {
  const from = bind.indexOf(0) + 1;
  return bind.toString('utf8', from, bind.indexOf(0, from)) || '(unnamed)';
}
