import { actorName, listAudit } from '../usecases/organization/audit-log.ts';
import { findOrganization } from '../usecases/organization/organization.ts';
import { optionText, optionWhole, positional, type StoreCommand, table, UsageError } from './command.ts';

const limitByDefault = 50;
const limitMax = 1000;

export const audit: StoreCommand = {
  name: 'audit',
  usage: 'ORG [--trace ID] [--limit N]',
  summary: 'Show who did what in an organization, newest first; with --trace, what one request did',
  positionals: ['ORG'],
  options: { trace: { type: 'string' }, limit: { type: 'string' } },
  async run(context, args) {
    const limit = optionWhole(args, 'limit') ?? limitByDefault;
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
    return { json: events, text: table(rows, 'Nothing of the kind was done.') };
  },
};
