import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A statement that passed, by the name it was prepared under, and when it was under way. */
export interface Flight {
  readonly statement: string;
  readonly sentMs: number;
  answeredMs: number;
}

export interface CountingProxy {
  /** The database's URL, by way of the proxy. */
  readonly url: string;
  /** What has passed since it was asked last. */
  take(): Flight[];
  close(): void;
}

/**
 * Stands between a node and PostgreSQL, reads the names of the statements out of the protocol (message formats:
 * https://www.postgresql.org/docs/current/protocol-message-formats.html) and holds every answer for a while, so that
 * what is asked at the same time is seen to be.
 */
export async function startCountingProxy(databaseUrl: string, holdMs: number): Promise<CountingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let flights: Flight[] = [];
  const server = createServer({ noDelay: true }, (client) => {
    const database = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    const underWay: Flight[] = [];
    const requests = messageReader(true, (type, body) => {
      if (type !== 'B') return;
      const flight = { statement: statementOf(body), sentMs: performance.now(), answeredMs: Infinity };
      flights.push(flight);
      underWay.push(flight);
    });
    const answers = messageReader(false, (type) => {
      if (type !== 'Z') return;
      const answered = underWay.shift();
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
      const taken = flights;
      flights = [];
      return taken;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** A message is a letter, a length that counts itself, and a body. The first of a client has no letter. */
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

/** Of a Bind: the portal's name, then the statement's, each ended by a zero. */
function statementOf(bind: Buffer): string {
  const from = bind.indexOf(0) + 1;
  return bind.toString('utf8', from, bind.indexOf(0, from)) || '(unnamed)';
}
