import { actorName, listAudit } from '../usecases/organization/audit-log.ts';
import { findOrganization } from '../usecases/organization/organization.ts';
import { optionText, optionWhole, positional, type StoreCommand, table, UsageError } from './command.ts';

const defaultLimit = 50;
const limitMax = 1000;

export const audit: StoreCommand = {
  name: 'audit',
  usage: 'ORG [--trace ID] [--limit N]',
  summary: 'Show the audit log of an organization, newest first; with --trace, only one request',
  positionals: ['ORG'],
  options: { trace: { type: 'string' }, limit: { type: 'string' } },
  async run(context, args) {
    const limit = optionWhole(args, 'limit') ?? defaultLimit;
    if (limit < 1 || limit > limitMax) throw new UsageError(`--limit must be 1 to ${limitMax}.`);
    const traceId = optionText(args, 'trace');
    const { id } = await findOrganization(context, positional(args, 0));
    const { events } = await listAudit(context, id, { limit, ...(traceId !== undefined && { traceId }) });
    const rows = events.map((event) => [
      new Date(event.at).toISOString(),
      actorName(event),
      event.action,
      event.subject,
      JSON.stringify(event.detail),
      event.traceId,
    ]);
    return { json: events, text: table(rows, 'No matching entries.') };
  },
};
