import type { AuditAction, AuditDetail, Initiator } from '../domain/audit.ts';
import type { AnyAuthority, OperatorAuthority, PersonAuthority } from '../domain/authority.ts';
import { notFound, type ServiceError } from '../domain/errors.ts';
import type { IdGenerator, OrganizationId } from '../domain/id.ts';
import type { UserPrincipal } from '../domain/principal.ts';
import type { AuditNote } from '../storage/port/store.ts';

/** The audit entry that the store writes in the same commit as the change. */
export function auditNote<A extends AnyAuthority>(
  ids: Pick<IdGenerator, 'event'>,
  initiator: Initiator<A>,
  action: AuditAction,
  subject: string,
  detail: AuditDetail = {},
): AuditNote<A> {
  return { id: ids.event(), ...initiator, action, subject, detail };
}

/** In which organization a change is made, and by whom. Calls of commands and console routes have these fields. */
export interface Change {
  readonly organizationId: OrganizationId;
  readonly initiator: Initiator;
}

/** The same, if only a person may make the change. */
export interface UserChange {
  readonly principal: UserPrincipal;
  readonly initiator: Initiator<PersonAuthority>;
}

/** For commands on the store. All changes of one command share one trace ID. */
export function operatorInitiator(ids: Pick<IdGenerator, 'event'>): Initiator<OperatorAuthority> {
  return { authority: { kind: 'operator' }, traceId: ids.event() };
}

/** Adds a `skein` command to an error message if the operator will read it; other actors cannot run it. */
export function withCommand({ authority }: Initiator, fact: string, command: string): string {
  return authority.kind === 'operator' ? `${fact}: ${command}.` : `${fact}.`;
}

/** The error for an id that the organization does not have. `thing` is as in `document doc_1`. */
export function missingIn(
  { organizationId, initiator }: Change,
  thing: string,
  commands: 'app' | 'doc' | 'key',
): ServiceError {
  const command = `run 'skein ${commands} list ${organizationId}' to see those it has`;
  return notFound(withCommand(initiator, `The organization has no ${thing}`, command));
}
