import { setTimeout as pause } from 'node:timers/promises';
import { Option } from 'commander';
import { counted, withCommas } from '../../../runtime/src/pure/text.ts';
import { iso, utcDate } from '../domain/time.ts';
import { actorName } from '../usecases/organization/audit-log.ts';
import { type OrganizationCall, onOrganization, type StoreCommand, UsageError, whole } from './command.ts';
import { listing } from './output.ts';

/** Pause between two steps of a purge, so that a running service can use the store. */
const pauseMs = 10;

const journalInUse = `
The journal of the store (its file ends in -wal) still holds removed data, because another process is reading it, for
example a backup. It is emptied by the next purge, or when the last process that uses the store stops.`;

export const commands: readonly StoreCommand[] = [
  onOrganization({
    name: 'usage',
    options: [new Option('--days <N>', 'How many days back; 30 by default').argParser(whole(1, 366))],
    summary:
      "Show an organization's quota and requests. Requests are counted by day, credential, operation and outcome.",
    examples: ['usage Acme --days 7'],
    async run(call: OrganizationCall<{ days?: number }>) {
      const { days = 30 } = call.options;
      const { quota, counts, isCut } = await call.useCases.usage.read(call.organizationId, 'all', days);
      const requests = counts.map(({ day, credentialId: _, ...count }) => ({ day: utcDate(day), ...count }));
      const rows = requests.map(({ day, credential, operation, outcome, requests: number }) => ({
        DAY: day,
        CREDENTIAL: credential.id,
        NAME: credential.name,
        OPERATION: operation,
        OUTCOME: outcome,
        REQUESTS: String(number),
      }));
      const taken = `${withCommas(quota.used)} of ${counted(quota.limit, 'request')} used today; resets at ${iso(quota.resetsAt)}`;
      return {
        json: { quota, requests, isCut },
        text: [
          `${taken}\n`,
          { rows, whenEmpty: `No requests in ${counted(days, 'day')}.` },
          ...(isCut ? ['\nEarlier days are left out: use a smaller --days.'] : []),
        ],
      };
    },
  }),
  onOrganization({
    name: 'audit',
    options: [
      new Option('--trace <ID>', 'Only the entries of the request or command with this trace ID'),
      new Option('--limit <N>', 'How many entries; 50 by default').argParser(whole(1, 1000)),
    ],
    summary: "Show an organization's audit log, newest first",
    examples: ['audit Acme --limit 10', 'audit Acme --trace 0198…'],
    async run(call: OrganizationCall<{ limit?: number; trace?: string }>) {
      const { limit = 50, trace: traceId } = call.options;
      const { events } = await call.useCases.audit.list(call.organizationId, { limit, traceId });
      const rows = events.map((event) => ({
        TIME: iso(event.at),
        ACTOR: actorName(event),
        ACTION: event.action,
        SUBJECT: event.subject,
        DETAIL: JSON.stringify(event.detail),
        'TRACE ID': event.traceId,
      }));
      return listing(events, rows, 'No matching entries.');
    },
  }),
  onOrganization({
    name: 'purge',
    options: [
      new Option('--user <EMAIL>', 'Remove only the data of this person'),
      new Option('--dry-run', 'Only show what would be removed'),
      new Option('--yes', 'Remove the data; this cannot be undone'),
    ],
    summary: 'Remove all data of an organization, or of one person in it',
    examples: ['purge Acme --user ada@example.com --dry-run', 'purge Acme --yes'],
    check({ dryRun, yes }) {
      if ((dryRun === true) !== (yes === true)) return;
      throw new UsageError(
        'A purge cannot be undone: add --dry-run to see what would be removed, or --yes to remove it.',
      );
    },
    async run(call: OrganizationCall<{ dryRun?: boolean; user?: string }>) {
      const { purges } = call.useCases;
      const { id, name } = call.organization;
      const { dryRun = false, user: email } = call.options;
      const person = email === undefined ? null : await purges.findPerson(email);
      const proceed = () => pause(pauseMs);
      const { rows, journalEmptied } = dryRun
        ? { rows: await purges.survey(id, person), journalEmptied: true }
        : person === null
          ? await purges.purgeOrganization(id, proceed)
          : await purges.purgePerson(call, person, proceed);
      const whom = person === null ? name : `${person.email} in ${name}`;
      const heading = dryRun ? `A purge of ${whom} would remove or rewrite:` : `Purged ${whom}:`;
      const lines = Object.entries(rows).map(([kind, count]) => ({ KIND: kind, ROWS: String(count) }));
      return {
        json: {
          organization: id,
          user: person?.userId ?? null,
          dryRun,
          rows,
          ...(!journalEmptied && { journalEmptied }),
        },
        text: [
          heading,
          { rows: lines, whenEmpty: 'nothing to remove' },
          ...(journalEmptied ? [] : [journalInUse]),
        ],
      };
    },
  }),
];
