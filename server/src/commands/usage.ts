import { utcDayStart } from '../domain/quota.ts';
import { findOrganization } from '../usecases/organization/organization.ts';
import { readUsage } from '../usecases/organization/read-usage.ts';
import { counted, optionWhole, positional, type StoreCommand, table, UsageError } from './command.ts';

const defaultDays = 30;
const daysMax = 366;

export const usage: StoreCommand = {
  name: 'usage',
  usage: 'ORG [--days N]',
  summary: "Show today's quota of an organization and its requests by day, credential, operation and outcome",
  positionals: ['ORG'],
  options: { days: { type: 'string' } },
  async run(context, args) {
    const days = optionWhole(args, 'days') ?? defaultDays;
    if (days < 1 || days > daysMax) throw new UsageError(`--days must be 1 to ${daysMax}.`);
    const { id } = await findOrganization(context, positional(args, 0));
    const { quota, counts } = await readUsage(context, id, 'all', days);
    const resetsAt = new Date(quota.resetsAt).toISOString();
    const requests = counts.map(({ day, credentialId: _, ...count }) => ({ day: dateOf(day), ...count }));
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
};

function dateOf(day: number): string {
  return new Date(utcDayStart(day)).toISOString().slice(0, 10);
}
