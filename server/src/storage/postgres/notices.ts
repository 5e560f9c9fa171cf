import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Notices, ReplyNotice } from '../port/store.ts';
import { postgresStatement } from '../sql/sql.ts';
import type { Database } from './database.ts';
import { applicationName, type Servers } from './servers.ts';

const channel = 'skein_replies';
/** A notification holds 8,000 bytes; the ids of a reply take about 110. */
const namesPerNotification = 50;
const idsOfReply = ['organizationId', 'threadId', 'messageId'] as const;
const reconnectMs = 1_000;

const notify = postgresStatement('notify')`SELECT pg_notify(:channel, :payload)`;

/** A notice is a hint: without a listening connection, or behind a pooler that drops notices, nodes poll. */
export function postgresNotices({ run }: Database, servers: Servers): Notices & { close(): Promise<void> } {
  const from = randomUUID();
  let connecting: Promise<pg.Client> | undefined;
  let closed = false;

  /** Resolves or rejects when the connection ends. */
  async function listenOnce(listener: (notice: ReplyNotice) => void): Promise<void> {
    connecting = servers.connect({
      application_name: `${applicationName} notices`,
      // Detects a vanished peer within minutes; the system's default is two hours.
      keepAliveInitialDelayMillis: 10_000,
    });
    const client = await connecting;
    const gone = new Promise<void>((resolve) => {
      client.once('end', resolve);
      client.on('error', () => resolve());
    });
    client.on('notification', ({ payload = '' }) => {
      const notice = readNotification(payload, from);
      if (notice !== undefined) listener(notice);
    });
    try {
      await client.query(`LISTEN ${channel}`);
      await gone;
    } finally {
      await client.end().catch(() => {});
    }
  }

  return {
    async sendNotice({ waiting, ended }) {
      const names = ended.map((reply) => idsOfReply.map((id) => reply[id]));
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
      await connecting?.then((client) => client.end()).catch(() => {});
    },
  };
}

/** Undefined for notices of the node itself, and for what another database user or a later release may send. */
function readNotification(payload: string, ownName: string): ReplyNotice | undefined {
  try {
    const { from, waiting, ended } = JSON.parse(payload);
    if (typeof from !== 'string' || from === ownName || typeof waiting !== 'boolean') return undefined;
    const names = ended.map((ids: unknown[]) => {
      if (ids.length !== 3 || !ids.every((id) => typeof id === 'string'))
        throw new Error('not the ids of a reply');
      return Object.fromEntries(idsOfReply.map((name, at) => [name, ids[at]]));
    });
    return { waiting, ended: names };
  } catch {
    return undefined;
  }
}
