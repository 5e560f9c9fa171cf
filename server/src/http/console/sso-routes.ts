import type { FastifyReply } from 'fastify';
import { notFound } from '../../domain/errors.ts';
import { type IdentityProvider, ProviderError } from '../../domain/sign-in.ts';
import {
  beginSingleSignOn,
  finishSingleSignOn,
  type SsoProblem,
  ssoTimeoutMs,
} from '../../usecases/people/single-sign-on.ts';
import type { SurfaceContext } from '../../usecases/surface-context.ts';
import { Type, text } from '../schema.ts';
import { clearCookie, readCookie, setCookie } from './check-caller.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { keepSession } from './session-routes.ts';
import type { SignInProblem } from './session-schemas.ts';

const ssoCookie = 'skein-sso';
const callbackPath = '/console/sso/callback';

/** Single sign-on through redirects of the browser. Failures redirect to the sign-in page. */
export function ssoRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    defineConsoleRoute('GET /sso/start', 'anyone', {
      query: Type.Object({ returnTo: Type.Optional(text(0, 2000)) }),
      response: null,
      async handle({ context, query, reply }) {
        const provider = providerOf(context);
        const returnAddress = `${options.baseUrl()}${callbackPath}`;
        try {
          const returnTo = localPath(query.returnTo);
          const redirect = await beginSingleSignOn(context, provider, returnAddress, returnTo);
          setCookie(reply, options, ssoCookie, redirect.sealed, ssoTimeoutMs);
          await reply.redirect(redirect.address, 303);
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
          await redirectToSignIn(reply, error.fault, error.message);
        }
      },
    }),
    defineConsoleRoute('GET /sso/callback', 'anyone', {
      response: null,
      async handle({ context, reply, traceId }) {
        const provider = providerOf(context);
        const { request } = reply;
        const callback = new URL(`${options.baseUrl()}${callbackPath}`);
        callback.search = request.query as string;
        const sealed = readCookie(request, options, ssoCookie);
        clearCookie(reply, options, ssoCookie);
        const answer = { callback: callback.href, sealed };
        const result = await finishSingleSignOn(context, provider, answer, traceId);
        if (result.outcome === 'refused') return redirectToSignIn(reply, result.problem, result.reason);
        await keepSession(context, options, reply, result.started);
        await reply.redirect(result.returnTo, 303);
      },
    }),
  ];
}

function providerOf({ identityProvider }: SurfaceContext): IdentityProvider {
  if (identityProvider === undefined) {
    throw notFound('Single sign-on is not configured.');
  }
  return identityProvider;
}

async function redirectToSignIn(reply: FastifyReply, problem: SsoProblem, reason: string): Promise<void> {
  reply.log.info({ trace_id: reply.request.id, problem, reason }, 'single sign-on failed');
  await reply.redirect(`/sign-in?problem=${problem satisfies SignInProblem}`, 303);
}

/** A path on this site. Anything that a browser could read as another site's URL becomes `/`. */
export function localPath(text: string | undefined): string {
  const own = 'http://here.invalid';
  if (text === undefined || !text.startsWith('/') || !URL.canParse(text, own)) return '/';
  const url = new URL(text, own);
  return url.origin === own && !url.pathname.startsWith('//') ? url.pathname + url.search + url.hash : '/';
}
