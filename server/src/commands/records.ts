import { setTimeout as pause } from 'node:timers/promises';
import { iso } from '../domain/iso-time.ts';
import { utcDate } from '../domain/quota.ts';
import { actorName, listAudit } from '../usecases/organization/audit-log.ts';
import {
  findPurgedPerson,
  purgeOrganization,
  purgePerson,
  surveyPurge,
} from '../usecases/organization/purge.ts';
import { readUsage } from '../usecases/organization/read-usage.ts';
import {
  counted,
  onOrganization,
  optionText,
  optionWhole,
  type StoreCommand,
  table,
  UsageError,
} from './command.ts';

/** Pause between two steps of a purge, so that a running service can use the store. */
const pauseMs = 10;

/** What an organization did, and its removal. */
export const recordCommands: readonly StoreCommand[] = [
  onOrganization({
    name: 'usage',
    usage: 'ORG [--days N]',
    summary:
      "Show today's quota of an organization and its requests by day, credential, operation and outcome",
    async run({ context, options, organizationId }) {
      const days = optionWhole({ options }, 'days', 1, 366) ?? 30;
      const { quota, counts } = await readUsage(context, organizationId, 'all', days);
      const resetsAt = iso(quota.resetsAt);
      const requests = counts.map(({ day, credentialId: _, ...count }) => ({ day: utcDate(day), ...count }));
      const rows = requests.map(({ day, credential, operation, outcome, requests: number }) => [
        day,
        credential.id,
        credential.name,
        operation,
        outcome,
        String(number),
      ]);
      const taken = `${quota.used} of ${counted(quota.limit, 'request')} used today, resets at ${resetsAt}`;
      return {
        json: { quota: { ...quota, resetsAt }, requests },
        text: `${taken}\n\n${table(rows, `No requests in ${counted(days, 'day')}.`)}`,
      };
    },
  }),
  onOrganization({
    name: 'audit',
    usage: 'ORG [--trace ID] [--limit N]',
    summary: 'Show the audit log of an organization, newest first; with --trace, only one request',
    async run({ context, options, organizationId }) {
      const limit = optionWhole({ options }, 'limit', 1, 1000) ?? 50;
      const traceId = optionText({ options }, 'trace');
      const { events } = await listAudit(context, organizationId, { limit, traceId });
      const rows = events.map((event) => [
        iso(event.at),
        actorName(event),
        event.action,
        event.subject,
        JSON.stringify(event.detail),
        event.traceId,
      ]);
      return { json: events, text: table(rows, 'No matching entries.') };
    },
  }),
  onOrganization({
    name: 'purge',
    usage: 'ORG [--user EMAIL] (--dry-run | --yes)',
    summary:
      'Remove all data of an organization, or of one person in it; --dry-run only shows what would be removed',
    check({ 'dry-run': dryRun, yes }) {
      if ((dryRun === true) !== (yes === true)) return;
      throw new UsageError(
        'A purge cannot be undone: add --dry-run to see what would be removed, or --yes to remove it.',
      );
    },
    async run({ context, initiator, options, organization: { id, name } }) {
      const dryRun = options['dry-run'] === true;
      const email = optionText({ options }, 'user');
      const person = email === undefined ? null : await findPurgedPerson(context, email);
      const proceed = () => pause(pauseMs);
      const rows = dryRun
        ? await surveyPurge(context, id, person)
        : person === null
          ? await purgeOrganization(context, id, proceed)
          : await purgePerson(context, id, initiator, person, proceed);
      const whom = person === null ? name : `${person.email} in ${name}`;
      const heading = dryRun ? `A purge of ${whom} would remove or rewrite:` : `Purged ${whom}:`;
      const lines = table(
        Object.entries(rows).map(([kind, count]) => [kind, String(count)]),
        'nothing to remove',
      );
      return {
        json: { organization: id, user: person?.userId ?? null, dryRun, rows },
        text: `${heading}\n${lines}`,
      };
    },
  }),
];
