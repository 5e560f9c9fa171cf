import type { FastifyReply } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Initiator } from '../../domain/audit.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { EnteredSession, SignedIn } from '../../usecases/people/sessions.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import type { Json } from '../schema.ts';

/**
 * Who may call a route. `anyone`: no session needed. `person`: a session. `member`: a session that may enter the
 * organization in the URL. `admin`: a session of an admin of that organization.
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
  /** The person in the organization of the URL, for the use cases. */
  readonly principal: C extends 'member' | 'admin' ? UserPrincipal : undefined;
  /** For the audit log. */
  readonly initiator: C extends 'anyone' ? undefined : Initiator;
  readonly path: Path;
  readonly query: Query;
  readonly body: Body;
  readonly traceId: string;
  /** The caller's IP address. Failed attempts are counted by it. */
  readonly address: string;
  /** For cookies, redirects and streams. */
  readonly reply: FastifyReply;
}

/** A route of the console is one value: who may call it, what it accepts, what it returns and what it does. */
export interface ConsoleRoute<
  C extends Caller = Caller,
  Path extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TObject = TObject,
  Response extends TSchema | null = TSchema | null,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Under `/console`; for members and admins under `/console/organizations/:organizationId`. */
  readonly url: string;
  readonly caller: C;
  readonly path?: Path;
  readonly query?: Query;
  readonly body?: Body;
  /** The body is a file, and reaches the handler as the path of a temporary file; undefined without a body. */
  readonly takesFile?: true;
  /** 200 by default. */
  readonly status?: 201;
  /** What the handler returns. Null where it answers by itself: redirects and streams. */
  readonly response: Response;
  handle(
    call: ConsoleCall<C, Static<Path>, Static<Query>, Static<Body>>,
  ): Promise<Response extends TSchema ? Json<Response> : undefined>;
}

/** Lets the schemas of a route type its handler. */
export function defineConsoleRoute<
  C extends Caller,
  Path extends TObject,
  Query extends TObject,
  Body extends TObject,
  Response extends TSchema | null,
>(route: ConsoleRoute<C, Path, Query, Body, Response>): ConsoleRoute {
  return route as unknown as ConsoleRoute;
}
