import type { AuditEvent } from '../../../src/domain/audit.ts';
import type { KeyId } from '../../../src/domain/id.ts';
import { dayMs } from '../../../src/domain/time.ts';
import type { Audits, Requests } from '../../../src/storage/port/store.ts';
import type { Sync } from './sync.ts';
import type { AuditEventRow, Tables } from './tables.ts';

type Counts = Pick<Requests, 'addTraffic' | 'listUsage' | 'readQuota' | 'countPrompt'>;

/** The audit log and the counts of requests and prompts. */
export function memoryRecords(tables: Tables): Sync<Audits & Counts> {
  const { organizations, clock } = tables;

  function toEvent(row: AuditEventRow): AuditEvent {
    const { actor, subject } = row;
    const findEmail = (id: string) => [...tables.userIds].find(([, userId]) => userId === id)?.[0] ?? null;
    return {
      ...row,
      actorEmail: actor.kind === 'user' ? findEmail(actor.userId) : null,
      subjectEmail: findEmail(subject),
    };
  }

  return {
    writeAudit(organizationId, note) {
      tables.note(organizationId, note, clock.now());
      return 'written';
    },

    listAudit(organizationId, { before, traceId, limit }) {
      const isListed = ({ at, id, traceId: trace }: AuditEventRow) =>
        (traceId === undefined || trace === traceId) &&
        (before === undefined || at < before.at || (at === before.at && id < before.id));
      const events = (organizations.get(organizationId)?.audit ?? [])
        .filter(isListed)
        .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
        .slice(0, limit)
        .map(toEvent);
      const last = events.length === limit ? events.at(-1) : undefined;
      return { events, searched: last ? { at: last.at, id: last.id } : null };
    },

    /** Only the counts of credentials. */
    addTraffic(reports) {
      for (const { organizationId, credentialId, hour, operation, outcome, requests, lastAt } of reports) {
        const organization = organizations.get(organizationId);
        if (organization === undefined || credentialId === null) continue;
        const { usage, lastUsedAt: latest } = organization;
        const day = Math.floor(hour / 24);
        const key = [`${day}`.padStart(6, '0'), credentialId, operation, outcome].join(' ');
        const sum = (usage.get(key)?.requests ?? 0) + requests;
        usage.set(key, { day, credentialId, operation, outcome, requests: sum });
        const known = latest.get(credentialId) ?? 0;
        if (known < lastAt || known > lastAt + dayMs) latest.set(credentialId, lastAt);
      }
      return true;
    },

    listUsage(organizationId, firstDay, lastDay, limit, userId) {
      const organization = organizations.get(organizationId);
      const isListed = (credentialId: string) =>
        userId === undefined || organization?.keys.get(credentialId as KeyId)?.userId === userId;
      return [...(organization?.usage ?? [])]
        .filter(([, { day, credentialId }]) => day >= firstDay && day <= lastDay && isListed(credentialId))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, count]) => ({ ...count }))
        .slice(-limit);
    },

    readQuota(organizationId, day) {
      const organization = organizations.get(organizationId);
      return organization && { used: organization.quotaUse.get(day) ?? 0, limit: organization.dailyQuota };
    },

    countPrompt(organizationId, userId, { period, personMax, organizationMax }) {
      const { promptUse } = organizations.get(organizationId)!;
      const now = clock.now();
      const ms = period === 'minute' ? 60_000 : dayMs;
      const startedAt = now - (now % ms);
      const isWithin = (user: string, max: number) => {
        const known = promptUse.get(`${period} ${user}`);
        const isCurrent = known && known.startedAt >= startedAt && known.startedAt <= startedAt + ms;
        const next = isCurrent ? { ...known, prompts: known.prompts + 1 } : { startedAt, prompts: 1 };
        promptUse.set(`${period} ${user}`, next);
        return next.prompts <= max;
      };
      const resetMs = startedAt + ms - now;
      if (!isWithin(userId, personMax)) return { over: 'person', resetMs };
      return isWithin('', organizationMax) ? 'counted' : { over: 'organization', resetMs };
    },
  };
}
