import type { AuditEvent } from '../../domain/audit.ts';

/** Who did it, for people. */
export function actorName({ actor, actorEmail }: AuditEvent): string {
  switch (actor.kind) {
    case 'user':
      return actorEmail ?? actor.userId;
    case 'operator':
      return 'Operator';
    case 'skein':
      return 'Skein';
  }
}
