import type { FastifyReply } from 'fastify';
import { notFound } from '../../domain/errors.ts';
import type { UserId } from '../../domain/id.ts';
import { type IdentityProvider, SignInError } from '../../domain/sign-in.ts';
import {
  acceptInvitation,
  acceptMembership,
  endedByInvitation,
  readInvitation,
} from '../../usecases/people/accept-invitation.ts';
import { requestPasswordLink } from '../../usecases/people/members.ts';
import {
  changePassword,
  countRequest,
  knownDeviceMs,
  sealDevice,
  signIn,
} from '../../usecases/people/passwords.ts';
import {
  type EnteredSession,
  readMemberships,
  readSession,
  type SignedIn,
  type StartedSession,
} from '../../usecases/people/sessions.ts';
import { endSession, signOut, signOutEverywhere } from '../../usecases/people/sign-out.ts';
import { beginSingleSignOn, finishSingleSignOn, ssoTimeoutMs } from '../../usecases/people/single-sign-on.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { Type, textFormat } from '../schema.ts';
import {
  cookieName,
  cookieOf,
  csrfTokenOf,
  deviceCookie,
  sessionCookie,
  sessionToken,
} from './check-caller.ts';
import { type ConsoleCall, type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import * as schemas from './session-schemas.ts';

/** Signing in and out, and the settings of a person rather than of an organization. */
export function sessionRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  const ownToken = ({ request }: FastifyReply) => sessionToken(request, options) as string;
  return [
    defineConsoleRoute('GET /sign-in', 'anyone', {
      response: schemas.signInOfferSchema,
      async handle({ context: { identityProvider, mailer } }) {
        const sso = identityProvider ? { name: identityProvider.name } : null;
        return { sso, passwordLinks: mailer !== undefined };
      },
    }),
    defineConsoleRoute('POST /sign-in', 'anyone', {
      body: schemas.signInBody,
      response: schemas.sessionSchema,
      handle: async (call) => openSession(call, options, await signIn(call, call.body)),
    }),
    defineConsoleRoute('GET /session', 'person', {
      response: schemas.sessionSchema,
      handle: ({ context, session, reply }) => presentSession(context, session, ownToken(reply)),
    }),
    defineConsoleRoute('POST /sign-out', 'person', {
      async handle(call) {
        await signOut(call);
        call.reply.clearCookie(cookieName(options, sessionCookie));
      },
    }),
    defineConsoleRoute('POST /sign-out-everywhere', 'person', {
      async handle(call) {
        await signOutEverywhere(call);
        call.reply.clearCookie(cookieName(options, sessionCookie));
      },
    }),
    defineConsoleRoute('POST /password', 'person', {
      body: schemas.passwordBody,
      async handle(call) {
        const { userId } = call.session.session;
        keepDevice(call, options, userId, await changePassword(call, call.body));
      },
    }),
    defineConsoleRoute('POST /password-link', 'anyone', {
      body: schemas.passwordLinkBody,
      async handle(call) {
        if (call.context.mailer === undefined) throw notFound('Email is not configured.');
        countRequest(call);
        const { context, device, traceId } = call;
        await requestPasswordLink(context, { ...call.body, device, traceId });
      },
    }),
    defineConsoleRoute('POST /invitation/read', 'anyone', {
      body: schemas.invitationBody,
      response: schemas.invitationSchema,
      async handle(call) {
        const found = await readInvitation(call, call.body.token);
        const { email, organizationName: organization, resets, terms: password } = found;
        const { memberships: endsMemberships, keys: endsKeys } = await endedByInvitation(call, found);
        return { email, organization, resets, endsKeys, endsMemberships, password };
      },
    }),
    defineConsoleRoute('POST /invitation/accept', 'anyone', {
      body: schemas.acceptInvitationBody,
      response: schemas.sessionSchema,
      handle: async (call) => openSession(call, options, await acceptInvitation(call, call.body)),
    }),
    defineConsoleRoute('POST /invitations/:id/accept', 'person', {
      response: schemas.sessionSchema,
      async handle(call) {
        await acceptMembership(call, call.path.id);
        return presentSession(call.context, call.session, ownToken(call.reply));
      },
    }),
  ];
}

type Exchange = Pick<ConsoleCall<'anyone', unknown, unknown, unknown>, 'context' | 'reply'>;

/** Makes the browser a known device of the password that it has just proven or set. */
function keepDevice(
  { context, reply }: Exchange,
  options: ConsoleOptions,
  userId: UserId,
  passwordHash: string,
): void {
  const sealed = sealDevice(context, userId, passwordHash);
  reply.setCookie(cookieName(options, deviceCookie), sealed, { maxAge: knownDeviceMs / 1000 });
}

/** Gives the browser the new session, and ends the one it had. */
async function keepSession({ context, reply }: Exchange, options: ConsoleOptions, started: StartedSession) {
  const replaced = sessionToken(reply.request, options);
  if (replaced !== undefined) await endSession(context, context.sha256(replaced));
  const maxAge = Math.ceil(context.limits.sessionLifeMs / 1000);
  reply.setCookie(cookieName(options, sessionCookie), started.token, { maxAge });
  reply.request.personId = started.userId;
}

async function openSession(exchange: Exchange, options: ConsoleOptions, started: StartedSession) {
  const { context } = exchange;
  await keepSession(exchange, options, started);
  const session = await readSession(context, context.sha256(started.token));
  const { userId, passwordHash } = started;
  if (passwordHash !== null) keepDevice(exchange, options, userId, passwordHash);
  return presentSession(context, session, started.token);
}

async function presentSession(context: SurfaceContext, signedIn: SignedIn, own: string) {
  const { userId, email, access } = signedIn.session;
  const { entered, pending } = await readMemberships(context, signedIn);
  const named = (entry: EnteredSession['membership']) => ({
    ...entry,
    id: entry.organizationId,
    name: entry.organizationName,
  });
  return {
    user: { id: userId, email },
    csrfToken: csrfTokenOf(context, own),
    proof: access.proof,
    limits: context.limits,
    organizations: entered.map(named),
    invitations: pending.map(named),
  };
}

const ssoCookie = 'skein-sso';
const callbackPath = '/console/sso/callback';

/** Single sign-on through redirects of the browser. Failures redirect to the sign-in page. */
export function ssoRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    defineConsoleRoute('GET /sso/start', 'anyone', {
      query: Type.Object({ returnTo: Type.Optional(Type.String({ format: textFormat })) }),
      response: null,
      async handle({ context, query, reply }) {
        const provider = providerOf(context);
        const returnUrl = `${context.baseUrl()}${callbackPath}`;
        await redirectTo(reply, async () => {
          const returnTo = localPath(query.returnTo);
          const { url, sealed } = await beginSingleSignOn(context, provider, returnUrl, returnTo);
          reply.setCookie(cookieName(options, ssoCookie), sealed, { maxAge: ssoTimeoutMs / 1000 });
          return url;
        });
      },
    }),
    defineConsoleRoute('GET /sso/callback', 'anyone', {
      response: null,
      async handle(call) {
        const { context, reply } = call;
        const provider = providerOf(context);
        const callback = new URL(`${context.baseUrl()}${callbackPath}`);
        callback.search = reply.request.query as string;
        const sealed = cookieOf(reply.request, cookieName(options, ssoCookie));
        reply.clearCookie(cookieName(options, ssoCookie));
        await redirectTo(reply, async () => {
          const answer = { callback: callback.href, sealed };
          const { started, returnTo } = await finishSingleSignOn(call, provider, answer);
          await keepSession(call, options, started);
          return returnTo;
        });
      },
    }),
  ];
}

function providerOf({ identityProvider }: SurfaceContext): IdentityProvider {
  if (identityProvider === undefined) throw notFound('Single sign-on is not configured.');
  return identityProvider;
}

/** Redirects to the URL that `next` returns, or to the sign-in page if single sign-on has failed. */
async function redirectTo(reply: FastifyReply, next: () => Promise<string>): Promise<void> {
  const url = await next().catch((error: unknown) => {
    if (!(error instanceof SignInError)) throw error;
    const { problem, message: reason } = error;
    reply.log.info({ trace_id: reply.request.id, problem, reason }, 'single sign-on failed');
    return `/sign-in?problem=${problem}`;
  });
  await reply.redirect(url, 303);
}

/** Browsers drop a cookie of more than 4,096 bytes. */
const pathLengthMax = 2000;

/** Anything that a browser could read as another site's URL becomes `/`. A path that is too long loses its query. */
export function localPath(text: string | undefined): string {
  const own = 'http://here.invalid';
  if (text === undefined || !text.startsWith('/') || !URL.canParse(text, own)) return '/';
  const { origin, pathname, search, hash } = new URL(text, own);
  if (origin !== own || pathname.startsWith('//')) return '/';
  const paths = [pathname + search + hash, pathname, '/'];
  return paths.find((path) => path.length <= pathLengthMax)!;
}
