import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Replies, ReplyName, ReplyNews } from '../store.ts';
import { applicationName, type Database } from './database.ts';
import { connectMs, type Servers } from './servers.ts';

const channel = 'skein_replies';
/** A notification holds 8,000 bytes; a reply's names take about 110. */
const namesPerNotification = 50;
const reconnectMs = 1_000;

const notify = { name: 'notify', text: 'SELECT pg_notify($1, $2)' };

interface Notification {
  readonly from: string;
  readonly waiting: boolean;
  readonly ended: [ReplyName['organizationId'], ReplyName['threadId'], ReplyName['messageId']][];
}

/**
 * NOTIFY from any connection, LISTEN on one of its own. It is a hint: with a pooler in between that passes no
 * notifications on, or while that connection is away, other nodes find out by asking.
 */
export function postgresNews(
  { run }: Database,
  servers: Servers,
): Pick<Replies, 'tellNews' | 'hearNews'> & { close(): Promise<void> } {
  const from = randomUUID();
  let listener: pg.Client | undefined;
  let closed = false;

  async function listen(told: (news: ReplyNews) => void): Promise<void> {
    while (!closed) {
      // A failure is told by whatever else needs the database.
      await listenOnce(told).catch(() => {});
      if (!closed) await pause(reconnectMs, undefined, { ref: false });
    }
  }

  /** Until the connection breaks. */
  async function listenOnce(told: (news: ReplyNews) => void): Promise<void> {
    const client = new pg.Client({
      connectionString: await servers.primary(),
      application_name: `${applicationName} news`,
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      // A peer that is gone without a word is noticed within minutes, not after the system's two hours.
      keepAliveInitialDelayMillis: 10_000,
    });
    if (closed) return;
    const gone = new Promise<void>((resolve) => {
      client.once('end', resolve);
      client.on('error', () => resolve());
    });
    client.on('notification', ({ payload }) => {
      const news = readNotification(payload);
      if (news !== undefined && news.from !== from) told(toNews(news));
    });
    listener = client;
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      await gone;
    } finally {
      await client.end().catch(() => {});
    }
  }

  return {
    async tellNews({ waiting, ended }) {
      const names = ended.map(({ organizationId, threadId, messageId }) => [
        organizationId,
        threadId,
        messageId,
      ]);
      for (let at = 0; at === 0 || at < names.length; at += namesPerNotification) {
        const payload = { from, waiting, ended: names.slice(at, at + namesPerNotification) };
        await run(notify, [channel, JSON.stringify(payload)]);
      }
    },

    hearNews: (told) => void listen(told),

    async close() {
      closed = true;
      await listener?.end().catch(() => {});
    },
  };
}

/** Anyone who may connect may notify, and a later release may tell other things: what is not ours is not news. */
function readNotification(payload: string | undefined): Notification | undefined {
  try {
    const news = JSON.parse(payload ?? '');
    const isNews =
      typeof news.from === 'string' &&
      typeof news.waiting === 'boolean' &&
      Array.isArray(news.ended) &&
      news.ended.every(isName);
    return isNews ? news : undefined;
  } catch {
    return undefined;
  }
}

function isName(name: unknown): boolean {
  return Array.isArray(name) && name.length === 3 && name.every((part) => typeof part === 'string');
}

function toNews({ waiting, ended }: Notification): ReplyNews {
  return {
    waiting,
    ended: ended.map(([organizationId, threadId, messageId]) => ({ organizationId, threadId, messageId })),
  };
}
