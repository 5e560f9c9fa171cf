import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConsoleCall } from '../../harness/console/console-client.ts';
import { root } from '../../harness/service/service.ts';

export type Thing =
  | 'keyRequest'
  | 'approvedRequest'
  | 'organization'
  | 'thread'
  | 'failedThread'
  | 'reply'
  | 'key'
  | 'application'
  | 'member'
  | 'document';

/** A route of the console, and a request that it accepts from permitted callers. */
export interface KnownRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly caller: 'anyone' | 'person' | 'member' | 'admin';
  /** The value of `:id`. */
  readonly thing?: Thing;
  /** Rejected for a session that was started with a password. */
  readonly ssoOnly?: true;
  readonly query?: string;
  readonly call?: ConsoleCall;
}

const json = (body: unknown): ConsoleCall => ({ body });

/** In an order in which each route finds the data that it needs. */
export const knownRoutes: readonly KnownRoute[] = [
  { method: 'GET', url: '/sign-in', caller: 'anyone' },
  { method: 'POST', url: '/sign-in', caller: 'anyone' },
  { method: 'POST', url: '/password-link', caller: 'anyone' },
  { method: 'POST', url: '/invitation/read', caller: 'anyone' },
  { method: 'POST', url: '/invitation/accept', caller: 'anyone' },
  { method: 'GET', url: '/sso/start', caller: 'anyone' },
  { method: 'GET', url: '/sso/callback', caller: 'anyone' },
  { method: 'GET', url: '/session', caller: 'person' },
  { method: 'POST', url: '/invitations/:id/accept', caller: 'person', thing: 'organization', ssoOnly: true },
  { method: 'GET', url: '/home/:id', caller: 'person', thing: 'thread' },
  { method: 'GET', url: '/threads', caller: 'member', query: '?scope=mine' },
  { method: 'GET', url: '/accounts', caller: 'member', query: '?prefix=a' },
  { method: 'POST', url: '/threads', caller: 'member', call: json({ prompt: 'Hello' }) },
  { method: 'GET', url: '/threads/:id', caller: 'member', thing: 'thread' },
  { method: 'GET', url: '/threads/:id/events', caller: 'member', thing: 'thread' },
  { method: 'PATCH', url: '/threads/:id', caller: 'member', thing: 'thread', call: json({ title: 'New' }) },
  {
    method: 'PUT',
    url: '/threads/:id/published',
    caller: 'member',
    thing: 'thread',
    call: json({ published: true }),
  },
  {
    method: 'POST',
    url: '/threads/:id/messages',
    caller: 'member',
    thing: 'thread',
    call: json({ prompt: 'And then?' }),
  },
  { method: 'POST', url: '/threads/:id/stop', caller: 'member', thing: 'thread' },
  { method: 'GET', url: '/threads/:id/ratings', caller: 'member', thing: 'thread' },
  {
    method: 'PUT',
    url: '/threads/:id/rating',
    caller: 'member',
    thing: 'thread',
    call: json({ messageId: 'msg_1', value: 'down' }),
  },
  { method: 'GET', url: '/unanswered', caller: 'admin' },
  { method: 'POST', url: '/threads/:id/retry', caller: 'member', thing: 'failedThread' },
  { method: 'DELETE', url: '/threads/:id', caller: 'member', thing: 'thread' },
  { method: 'POST', url: '/threads/:id/restore', caller: 'member', thing: 'thread' },
  { method: 'GET', url: '/keys', caller: 'member' },
  { method: 'POST', url: '/keys', caller: 'admin', call: json({ name: 'Laptop', scope: 'personal' }) },
  {
    method: 'POST',
    url: '/keys/:id/rotate',
    caller: 'member',
    thing: 'key',
    call: json({ oldValidFor: '24h' }),
  },
  { method: 'POST', url: '/keys/:id/revoke', caller: 'member', thing: 'key' },
  { method: 'POST', url: '/key-requests', caller: 'member', call: json({ name: 'Laptop' }) },
  { method: 'POST', url: '/key-requests/:id/decline', caller: 'admin', thing: 'keyRequest' },
  { method: 'POST', url: '/key-requests/:id/approve', caller: 'admin', thing: 'approvedRequest' },
  { method: 'POST', url: '/key-requests/:id/reveal', caller: 'member', thing: 'approvedRequest' },
  { method: 'GET', url: '/applications', caller: 'admin' },
  { method: 'POST', url: '/applications', caller: 'admin', call: json({ name: 'Dashboards' }) },
  { method: 'POST', url: '/applications/:id/rotate', caller: 'admin', thing: 'application' },
  { method: 'DELETE', url: '/applications/:id', caller: 'admin', thing: 'application' },
  { method: 'GET', url: '/members', caller: 'admin' },
  {
    method: 'POST',
    url: '/members',
    caller: 'admin',
    call: json({ email: 'new@acme.example', role: 'member', service: false }),
  },
  { method: 'POST', url: '/members/:id/invitation', caller: 'admin', thing: 'member' },
  { method: 'PATCH', url: '/members/:id', caller: 'admin', thing: 'member', call: json({ role: 'admin' }) },
  { method: 'DELETE', url: '/members/:id', caller: 'admin', thing: 'member' },
  { method: 'GET', url: '/documents', caller: 'member' },
  {
    method: 'POST',
    url: '/documents',
    caller: 'admin',
    query: '?name=a.md',
    call: { file: Buffer.from('# A\n\nText.\n') },
  },
  { method: 'GET', url: '/documents/:id', caller: 'member', thing: 'document' },
  {
    method: 'GET',
    url: '/documents/:id/passages',
    caller: 'member',
    thing: 'document',
    query: '?skip=0&limit=10',
  },
  {
    method: 'POST',
    url: '/documents/search',
    caller: 'admin',
    call: json({ question: 'Who is first?' }),
  },
  { method: 'POST', url: '/documents/remove', caller: 'admin', call: json({ ids: ['doc_1'] }) },
  { method: 'GET', url: '/examples', caller: 'member' },
  { method: 'GET', url: '/first-steps', caller: 'admin' },
  { method: 'GET', url: '/model', caller: 'admin' },
  { method: 'POST', url: '/model/test', caller: 'admin' },
  { method: 'GET', url: '/usage', caller: 'member' },
  { method: 'GET', url: '/requests', caller: 'admin', query: '?status=4xx' },
  { method: 'GET', url: '/audit', caller: 'admin' },
  { method: 'GET', url: '/audit/export', caller: 'admin' },
  { method: 'POST', url: '/sign-out', caller: 'person' },
  { method: 'POST', url: '/sign-out-everywhere', caller: 'person' },
  { method: 'POST', url: '/password', caller: 'person' },
];

/** The routes that the server's files define, and the number of definitions. */
export function definedRoutes(): { routes: Pick<KnownRoute, 'method' | 'url' | 'caller'>[]; count: number } {
  const folder = join(root, 'server/src/http/console');
  const text = readdirSync(folder)
    .filter((name) => name.endsWith('-routes.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  const definition =
    /defineConsoleRoute\(\s*'(?<method>\w+) (?<url>[^']+)',\s*'(?<caller>anyone|person|member|admin)',/g;
  const routes = [...text.matchAll(definition)].map(({ groups }) => groups as unknown as KnownRoute);
  return { routes, count: text.split('defineConsoleRoute(').length - 1 };
}
