import { setTimeout as pause } from 'node:timers/promises';
import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import { findOrganization } from '../usecases/organization/organization.ts';
import {
  findPurgedPerson,
  purgeOrganization,
  purgePerson,
  surveyPurge,
} from '../usecases/organization/purge.ts';
import { optionText, positional, type StoreCommand, table, UsageError } from './command.ts';

/** Pause between two steps, so that a running service can use the store. */
const pauseMs = 10;

export const purge: StoreCommand = {
  name: 'purge',
  usage: 'ORG [--user EMAIL] (--dry-run | --yes)',
  summary:
    'Remove all data of an organization, or of one person in it; --dry-run only shows what would be removed',
  positionals: ['ORG'],
  options: { user: { type: 'string' }, 'dry-run': { type: 'boolean' }, yes: { type: 'boolean' } },
  async run(context, args) {
    const dryRun = args.options['dry-run'] === true;
    if (dryRun === (args.options.yes === true)) {
      throw new UsageError(
        'A purge cannot be undone: add --dry-run to see what would be removed, or --yes to remove it.',
      );
    }
    const { id, name } = await findOrganization(context, positional(args, 0));
    const email = optionText(args, 'user');
    const person = email === undefined ? null : await findPurgedPerson(context, email);
    const proceed = () => pause(pauseMs);
    const rows = dryRun
      ? await surveyPurge(context, id, person)
      : person === null
        ? await purgeOrganization(context, id, proceed)
        : await purgePerson(context, id, operatorInitiator(context), person, proceed);
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
};
