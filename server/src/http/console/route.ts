import type { FastifyReply } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { Initiator } from '../../domain/audit.ts';
import type { SessionAuthority } from '../../domain/authority.ts';
import type { Library } from '../../domain/document.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { ConfiguredModel } from '../../domain/reply.ts';
import type { KnownDevice } from '../../domain/sign-in.ts';
import type { EnteredSession, SignedIn } from '../../usecases/people/sessions.ts';
import type { ReportRequest } from '../request-log.ts';
import { object, type Source } from '../schema.ts';
import type { HeldRequests, Pieces } from '../wire/index.ts';

export interface ConsoleOptions {
  readonly limits: Limits;
  readonly model: ConfiguredModel;
  readonly uploadFolder: string;
  /** Searches documents without blocking the event loop. */
  readonly searchPassages: Library['search'];
  readonly authUrl: () => string;
  /** Whether browsers use HTTPS. If so, cookies are sent only over HTTPS. */
  readonly secure: boolean;
  /** Ends held requests and streams when the service stops. */
  readonly heldRequests: HeldRequests;
  readonly report: ReportRequest;
}

/** Who may call a route. A member, or an admin, is one of the organization in the URL. */
interface CallerKinds {
  anyone: undefined;
  person: SignedIn;
  member: EnteredSession;
  admin: EnteredSession;
}

export type Caller = keyof CallerKinds;

export interface ConsoleCall<C extends Caller, Path, Query, Body> {
  readonly session: CallerKinds[C];
  /** The person in the organization of the URL, for the use cases. */
  readonly principal: C extends 'member' | 'admin' ? UserPrincipal : undefined;
  readonly organizationId: C extends 'member' | 'admin' ? OrganizationId : undefined;
  readonly initiator: C extends 'anyone' ? undefined : Initiator<SessionAuthority>;
  readonly path: Path;
  readonly query: Query;
  readonly body: Body;
  readonly traceId: string;
  /** Rejects if the session has ended or the person may no longer call the route. */
  readonly recheck: () => Promise<void>;
  /** The caller's IP address. Failed attempts are counted by it. */
  readonly address: string;
  /** The browser, if it has signed in with a password before. */
  readonly device: KnownDevice | undefined;
  /** For cookies, redirects and streams. */
  readonly reply: FastifyReply;
}

/** What handlers pass to functions that several routes share. */
export type MemberCall = ConsoleCall<'member', unknown, unknown, unknown>;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type PathOf<Address extends string> = Address extends `${string}/:id${string}`
  ? { readonly id: string }
  : object;

interface Definition<
  C extends Caller,
  Path,
  Query extends TObject,
  Body extends TObject,
  Response extends TSchema | null,
> {
  readonly query?: Query;
  readonly body?: Body;
  /** The body is a file, which the handler receives (`uploads.ts`). */
  readonly takesFile?: true;
  /** The page calls it on its own, so it does not extend the session. */
  readonly isBackground?: true;
  /** A read with an entry in the audit log: it counts as a change, and no other site can cause it. */
  readonly isRecorded?: true;
  /** 200 by default. */
  readonly status?: 201;
  /**
   * The handler's value is sent with only the fields of this schema; `{}` by default. A handler may also return the pieces
   * of the JSON, which are sent unchanged. Null if the handler sends the response itself: redirects and streams.
   */
  readonly response?: Response;
  handle(
    call: ConsoleCall<C, Path, Static<Query>, Static<Body>>,
  ): Promise<Response extends TSchema ? Source<Response> | Pieces : unknown>;
}

/** A route of the console is one value: who may call it, what it accepts, what it returns and what it does. */
export interface ConsoleRoute extends Definition<Caller, unknown, TObject, TObject, TSchema | null> {
  readonly method: Method;
  /** Under `/console`; for members and admins under `/console/organizations/:organizationId`. */
  readonly url: string;
  readonly caller: Caller;
  readonly response: TSchema | null;
}

/** `address` and the schemas type the handler. */
export function defineConsoleRoute<
  Address extends `${Method} ${string}`,
  C extends Caller,
  Query extends TObject,
  Body extends TObject,
  Response extends TSchema | null = null,
>(
  address: Address,
  caller: C,
  definition: Definition<C, PathOf<Address>, Query, Body, Response>,
): ConsoleRoute {
  const [method, url] = address.split(' ') as [Method, string];
  const { response = object({}) } = definition;
  return { ...definition, method, url, caller, response } as unknown as ConsoleRoute;
}
