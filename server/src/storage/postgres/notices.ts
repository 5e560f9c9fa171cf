import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { statement } from '../sql/sql.ts';
import type { Notices, ReplyName, ReplyNotice } from '../store.ts';
import type { Database } from './database.ts';
import { applicationName, connectMs, type Servers } from './servers.ts';

const channel = 'skein_replies';
/** A notification holds 8,000 bytes; the ids of a reply take about 110. */
const namesPerNotification = 50;
const reconnectMs = 1_000;

const notify = statement('notify')`SELECT pg_notify(:channel, :payload)`;

interface Notification {
  readonly from: string;
  readonly waiting: boolean;
  readonly ended: [ReplyName['organizationId'], ReplyName['threadId'], ReplyName['messageId']][];
}

/**
 * Sends NOTIFY on any connection and listens on a separate one. A notice is a hint: behind a pooler that drops
 * notifications, or while the listening connection is down, nodes find out by polling.
 */
export function postgresNotices({ run }: Database, servers: Servers): Notices & { close(): Promise<void> } {
  const from = randomUUID();
  let connection: pg.Client | undefined;
  let closed = false;

  /** Resolves or rejects when the connection ends. */
  async function listenOnce(listener: (notice: ReplyNotice) => void): Promise<void> {
    const client = new pg.Client({
      connectionString: await servers.primary(),
      application_name: `${applicationName} notices`,
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      // Detects a vanished peer within minutes; the system's default is two hours.
      keepAliveInitialDelayMillis: 10_000,
    });
    if (closed) return;
    const gone = new Promise<void>((resolve) => {
      client.once('end', resolve);
      client.on('error', () => resolve());
    });
    client.on('notification', ({ payload }) => {
      const notice = readNotification(payload);
      if (notice !== undefined && notice.from !== from) listener(toNotice(notice));
    });
    connection = client;
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      await gone;
    } finally {
      await client.end().catch(() => {});
    }
  }

  return {
    async sendNotice({ waiting, ended }) {
      const names = ended.map(({ organizationId, threadId, messageId }) => [
        organizationId,
        threadId,
        messageId,
      ]);
      for (let start = 0; start === 0 || start < names.length; start += namesPerNotification) {
        const payload = { from, waiting, ended: names.slice(start, start + namesPerNotification) };
        await run(notify, { channel, payload: JSON.stringify(payload) });
      }
    },

    async onNotice(listener) {
      while (!closed) {
        // Not logged: other queries fail as well and are reported.
        await listenOnce(listener).catch(() => {});
        if (!closed) await pause(reconnectMs, undefined, { ref: false });
      }
    },

    async close() {
      closed = true;
      await connection?.end().catch(() => {});
    },
  };
}

/** Any database user can send a notification, and a later release may send other kinds: ignore unknown ones. */
function readNotification(payload: string | undefined): Notification | undefined {
  try {
    const notice = JSON.parse(payload ?? '');
    const isNotice =
      typeof notice.from === 'string' &&
      typeof notice.waiting === 'boolean' &&
      Array.isArray(notice.ended) &&
      notice.ended.every(isName);
    return isNotice ? notice : undefined;
  } catch {
    return undefined;
  }
}

function isName(name: unknown): boolean {
  return Array.isArray(name) && name.length === 3 && name.every((part) => typeof part === 'string');
}

function toNotice({ waiting, ended }: Notification): ReplyNotice {
  return {
    waiting,
    ended: ended.map(([organizationId, threadId, messageId]) => ({ organizationId, threadId, messageId })),
  };
}
