import type { FastifyReply } from 'fastify';
import type { Static, TObject } from 'typebox';
import type { Initiator } from '../../domain/audit.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { EnteredSession, SignedIn } from '../../usecases/people/sessions.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';

/**
 * Who may call a route. `anyone`: no session is needed. `person`: a session. `member`: a session that may enter the
 * organization in the address. `admin`: one whose person is an admin there.
 */
interface CallerKinds {
  anyone: undefined;
  person: SignedIn;
  member: EnteredSession;
  admin: EnteredSession;
}

export type Caller = keyof CallerKinds;

export interface ConsoleCall<C extends Caller, Path, Query, Body> {
  readonly context: SurfaceContext;
  readonly session: CallerKinds[C];
  /** The person in the organization of the address, for the use cases. */
  readonly principal: C extends 'member' | 'admin' ? UserPrincipal : undefined;
  /** For the audit log. */
  readonly initiator: C extends 'anyone' ? undefined : Initiator;
  readonly path: Path;
  readonly query: Query;
  readonly body: Body;
  readonly traceId: string;
  /** The caller's, as far as it can be relied on: attempts are counted by it. */
  readonly address: string;
  /** For what an answer in JSON cannot say: cookies, redirects, streams. */
  readonly reply: FastifyReply;
}

export interface ConsoleAnswer {
  readonly status?: 200 | 201;
  readonly body: unknown;
}

/** A route of the console is one value: who may call it, what is valid, and what it does. */
export interface ConsoleRoute<
  C extends Caller = Caller,
  Path extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TObject = TObject,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Under `/console`; of members and admins under `/console/organizations/:organizationId`. */
  readonly url: string;
  readonly caller: C;
  readonly path?: Path;
  readonly query?: Query;
  readonly body?: Body;
  /** The body is a file, and reaches the handler as the path of a temporary file; undefined without a body. */
  readonly takesFile?: true;
  /** Undefined: the handler has answered by itself. */
  handle(call: ConsoleCall<C, Static<Path>, Static<Query>, Static<Body>>): Promise<ConsoleAnswer | undefined>;
}

/** Lets the schemas of a route type its handler. */
export function defineConsoleRoute<
  C extends Caller,
  Path extends TObject,
  Query extends TObject,
  Body extends TObject,
>(route: ConsoleRoute<C, Path, Query, Body>): ConsoleRoute {
  return route as unknown as ConsoleRoute;
}
