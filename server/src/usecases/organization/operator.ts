import type { Initiator } from '../../domain/audit.ts';
import type { Context } from '../context.ts';

/** Whoever runs a command on the store is the operator. All that one command does bears one trace id. */
export function operatorInitiator({ ids }: Pick<Context, 'ids'>): Initiator {
  return { actor: { kind: 'operator' }, traceId: ids.event() };
}

/** A sentence that goes on, for the operator only, with the command that helps: nobody else has it at hand. */
export function withCommand({ actor }: Initiator, fact: string, command: string): string {
  return actor.kind === 'operator' ? `${fact}: ${command}.` : `${fact}.`;
}
