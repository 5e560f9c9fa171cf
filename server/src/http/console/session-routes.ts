import type { FastifyReply } from 'fastify';
import { notFound } from '../../domain/errors.ts';
import type { UserId } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import { SignInError } from '../../domain/sign-in.ts';
import type { InvitationAcceptance } from '../../usecases/people/accept-invitation.ts';
import { type KnownDevices, knownDeviceMs } from '../../usecases/people/known-devices.ts';
import type { PasswordAttempts } from '../../usecases/people/password-attempts.ts';
import type { PasswordLinks } from '../../usecases/people/password-links.ts';
import type { SignIn } from '../../usecases/people/passwords.ts';
import type { EnteredSession, Sessions, SignedIn, StartedSession } from '../../usecases/people/sessions.ts';
import type { SignOut } from '../../usecases/people/sign-out.ts';
import { type SingleSignOn, ssoTimeoutMs } from '../../usecases/people/single-sign-on.ts';
import { Type, textFormat } from '../schema.ts';
import {
  cookieName,
  cookieOf,
  deriveCsrfToken,
  deviceCookie,
  sessionCookie,
  sessionToken,
} from './check-caller.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import * as schemas from './session-schemas.ts';

export interface SessionRouteNeeds {
  readonly sessions: Pick<Sessions, 'read' | 'memberships'>;
  readonly signOut: SignOut;
  readonly signIn: SignIn;
  readonly passwordAttempts: Pick<PasswordAttempts, 'countRequest'>;
  readonly knownDevices: Pick<KnownDevices, 'seal'>;
  /** Undefined if mail is not configured. */
  readonly passwordLinks: Pick<PasswordLinks, 'request'> | undefined;
  readonly invitations: InvitationAcceptance;
  /** Undefined if people sign in by password only. */
  readonly singleSignOn: SingleSignOn | undefined;
  readonly sha256: (text: string) => string;
  readonly limits: Limits;
  readonly baseUrl: () => string;
}

/** Signing in and out, and the settings of a person rather than of an organization. */
export function sessionRoutes(needs: SessionRouteNeeds, options: ConsoleOptions): readonly ConsoleRoute[] {
  const { signOut, signIn, passwordAttempts, passwordLinks, invitations, singleSignOn } = needs;
  const ownToken = ({ request }: FastifyReply) => sessionToken(request, options) as string;
  return [
    defineConsoleRoute('GET /sign-in', 'anyone', {
      response: schemas.signInOfferSchema,
      async handle() {
        const sso = singleSignOn ? { name: singleSignOn.name } : null;
        return { sso, passwordLinks: passwordLinks !== undefined };
      },
    }),
    defineConsoleRoute('POST /sign-in', 'anyone', {
      body: schemas.signInBody,
      response: schemas.sessionSchema,
      handle: async (call) => openSession(needs, call.reply, options, await signIn.signIn(call, call.body)),
    }),
    defineConsoleRoute('GET /session', 'person', {
      response: schemas.sessionSchema,
      handle: ({ session, reply }) => presentSession(needs, session, ownToken(reply)),
    }),
    defineConsoleRoute('POST /sign-out', 'person', {
      async handle(call) {
        await signOut.signOut(call);
        call.reply.clearCookie(cookieName(options, sessionCookie));
      },
    }),
    defineConsoleRoute('POST /sign-out-everywhere', 'person', {
      async handle(call) {
        await signOut.signOutEverywhere(call);
        call.reply.clearCookie(cookieName(options, sessionCookie));
      },
    }),
    defineConsoleRoute('POST /password', 'person', {
      body: schemas.passwordBody,
      async handle(call) {
        const { userId } = call.session.session;
        const passwordHash = await signIn.changePassword(call, call.body);
        keepDevice(needs, call.reply, options, userId, passwordHash);
      },
    }),
    defineConsoleRoute('POST /password-link', 'anyone', {
      body: schemas.passwordLinkBody,
      async handle(call) {
        if (passwordLinks === undefined) throw notFound('Email is not configured.');
        passwordAttempts.countRequest(call);
        const { device, traceId } = call;
        await passwordLinks.request({ ...call.body, device, traceId });
      },
    }),
    defineConsoleRoute('POST /invitation/read', 'anyone', {
      body: schemas.invitationBody,
      response: schemas.invitationSchema,
      async handle(call) {
        const found = await invitations.read(call, call.body.token);
        const { email, organizationName: organization, resets, terms: password } = found;
        const { memberships: endsMemberships, keys: endsKeys } = await invitations.listEnded(found);
        return { email, organization, resets, endsKeys, endsMemberships, password };
      },
    }),
    defineConsoleRoute('POST /invitation/accept', 'anyone', {
      body: schemas.acceptInvitationBody,
      response: schemas.sessionSchema,
      handle: async (call) =>
        openSession(needs, call.reply, options, await invitations.accept(call, call.body)),
    }),
    defineConsoleRoute('POST /invitations/:id/accept', 'person', {
      response: schemas.sessionSchema,
      async handle(call) {
        await invitations.acceptMembership(call, call.path.id);
        return presentSession(needs, call.session, ownToken(call.reply));
      },
    }),
  ];
}

/** Makes the browser a known device of the password that it has just proven or set. */
function keepDevice(
  { knownDevices }: SessionRouteNeeds,
  reply: FastifyReply,
  options: ConsoleOptions,
  userId: UserId,
  passwordHash: string,
): void {
  const sealed = knownDevices.seal(userId, passwordHash);
  reply.setCookie(cookieName(options, deviceCookie), sealed, { maxAge: knownDeviceMs / 1000 });
}

/** Gives the browser the new session, and ends the one it had. */
async function keepSession(
  { signOut, sha256, limits }: SessionRouteNeeds,
  reply: FastifyReply,
  options: ConsoleOptions,
  started: StartedSession,
) {
  const replaced = sessionToken(reply.request, options);
  if (replaced !== undefined) await signOut.endSession(sha256(replaced));
  const maxAge = Math.ceil(limits.sessionLifeMs / 1000);
  reply.setCookie(cookieName(options, sessionCookie), started.token, { maxAge });
  reply.request.personId = started.userId;
}

async function openSession(
  needs: SessionRouteNeeds,
  reply: FastifyReply,
  options: ConsoleOptions,
  started: StartedSession,
) {
  await keepSession(needs, reply, options, started);
  const session = await needs.sessions.read(needs.sha256(started.token));
  const { userId, passwordHash } = started;
  if (passwordHash !== null) keepDevice(needs, reply, options, userId, passwordHash);
  return presentSession(needs, session, started.token);
}

async function presentSession(
  { sessions, sha256, limits }: SessionRouteNeeds,
  signedIn: SignedIn,
  own: string,
) {
  const { userId, email, access } = signedIn.session;
  const { entered, pending } = await sessions.memberships(signedIn);
  const named = (entry: EnteredSession['membership']) => ({
    ...entry,
    id: entry.organizationId,
    name: entry.organizationName,
  });
  return {
    user: { id: userId, email },
    csrfToken: deriveCsrfToken(sha256, own),
    proof: access.proof,
    limits,
    organizations: entered.map(named),
    invitations: pending.map(named),
  };
}

const ssoCookie = 'skein-sso';
const callbackPath = '/console/sso/callback';

/** Single sign-on through redirects of the browser. Failures redirect to the sign-in page. */
export function ssoRoutes(needs: SessionRouteNeeds, options: ConsoleOptions): readonly ConsoleRoute[] {
  const { baseUrl } = needs;
  return [
    defineConsoleRoute('GET /sso/start', 'anyone', {
      query: Type.Object({ returnTo: Type.Optional(Type.String({ format: textFormat })) }),
      response: null,
      async handle({ query, reply }) {
        const singleSignOn = requireSingleSignOn(needs);
        const returnUrl = `${baseUrl()}${callbackPath}`;
        await redirectTo(reply, async () => {
          const returnTo = localPath(query.returnTo);
          const { url, sealed } = await singleSignOn.begin(returnUrl, returnTo);
          reply.setCookie(cookieName(options, ssoCookie), sealed, { maxAge: ssoTimeoutMs / 1000 });
          return url;
        });
      },
    }),
    defineConsoleRoute('GET /sso/callback', 'anyone', {
      response: null,
      async handle({ reply, traceId }) {
        const singleSignOn = requireSingleSignOn(needs);
        const callback = new URL(`${baseUrl()}${callbackPath}`);
        callback.search = reply.request.query as string;
        const sealed = cookieOf(reply.request, cookieName(options, ssoCookie));
        reply.clearCookie(cookieName(options, ssoCookie));
        await redirectTo(reply, async () => {
          const answer = { callback: callback.href, sealed };
          const { started, returnTo } = await singleSignOn.finish(answer, traceId);
          await keepSession(needs, reply, options, started);
          return returnTo;
        });
      },
    }),
  ];
}

function requireSingleSignOn({ singleSignOn }: SessionRouteNeeds): SingleSignOn {
  if (singleSignOn === undefined) throw notFound('Single sign-on is not configured.');
  return singleSignOn;
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
