import type { Client } from './packed.ts';

/** Addresses of one service, by how it is reached, and credentials for it. */
export interface Settings {
  readonly direct: string;
  /** The first attempts are dropped, lost, cut off, failed, and answered with a proxy's page. */
  readonly lossy: string;
  /** Answers with `Retry-After: 1` first, then passes. */
  readonly limited: string;
  /** Answers with `Retry-After: 3600`. */
  readonly exhausted: string;
  readonly withoutPrefer: string;
  /** Never answers. */
  readonly silent: string;
  /** Answers with a proxy's page and status 200. */
  readonly portal: string;
  /** Redirects to another URL. */
  readonly moved: string;
  readonly apiKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface Report {
  /** The names of the checks that passed. */
  readonly passed: string[];
  readonly lossyThreadId: string;
}

/** Exercises the client without using the APIs of any one runtime. Throws at the first check that fails. */
export async function scenario(client: Client, settings: Settings): Promise<Report> {
  const { Skein, NotFoundError, RateLimitedError, ReplyFailedError, UnauthorizedError } = client;
  const { apiKey } = settings;
  const passed: string[] = [];
  const check = (name: string, holds: unknown, found?: unknown) => {
    if (holds !== true) throw new Error(`failed: ${name}; found ${found}`);
    passed.push(name);
  };
  const catchFailure = async (act: Promise<unknown>): Promise<any> => {
    try {
      await act;
    } catch (error) {
      return error;
    }
    throw new Error('it succeeded');
  };
  const at = (baseUrl: string) => new Skein({ baseUrl, apiKey, maxRetryDelayMs: 1_000 }).threads;
  const threads = at(settings.direct);

  const created = await threads.create({ prompt: 'What is a skein?', title: 'Yarn' });
  const read = await threads.get(created.thread.id, { waitSeconds: 20 });
  check('creates and reads', read.status.state === 'idle' && read.thread.title === 'Yarn', read.status.state);
  const unchanged = await threads.get(created.thread.id, { etag: read.etag });
  check('returns null if the thread has not changed', unchanged === null);
  const renamed = await threads.rename(created.thread.id, 'Wool');
  check('renames', renamed.title === 'Wool' && renamed.updatedAt !== null, renamed.title);
  check('deletes', (await threads.delete(created.thread.id)).deleted);
  const missing = await catchFailure(threads.get(created.thread.id));
  const isNotFound = missing instanceof NotFoundError && missing.status === 404;
  check('throws a NotFoundError for a deleted thread', isNotFound, missing);
  check('reports the trace ID', /^[0-9a-f-]{36}$/.test(missing.traceId), missing.traceId);

  const accountId = `acct_${created.thread.id}`;
  const made: string[] = [];
  for (const title of ['1', '2', '3']) {
    made.unshift((await threads.create({ prompt: 'Hello', title, accountId })).thread.id);
  }
  const walked: string[] = [];
  for await (const { id } of threads.list({ accountId, limit: 2 })) walked.push(id);
  check('walks all pages', walked.join() === made.join(), walked);
  const page = await threads.list({ accountId, limit: 2 }).page();
  check('returns one page', page.threads.length === 2 && page.nextCursor !== null && !page.truncated);

  const steps: string[] = [];
  const prompt = '#step Reading\n#wait 1200\n#step Writing\n#say Thirty days.\n#source Refund policy';
  const answered = await threads.ask(prompt, { onStep: ({ description }) => steps.push(description) });
  const isAnswered = answered.text === 'Thirty days.' && answered.sources[0]?.title === 'Refund policy';
  check('returns the text and the sources of a reply', isAnswered, answered.text);
  check('calls onStep for each step', steps.join() === 'Reading,Writing', steps);
  const failed = await catchFailure(threads.ask('#fail'));
  const isReplyFailed = failed instanceof ReplyFailedError && failed.thread.id === failed.threadId;
  check('throws a ReplyFailedError for a failed reply', isReplyFailed, failed);

  const { thread } = await at(settings.lossy).create({ prompt: 'Once', accountId: `${accountId}_lossy` });
  const same: string[] = [];
  for await (const { id } of threads.list({ accountId: `${accountId}_lossy` })) same.push(id);
  check('creates one thread over several attempts', same.join() === thread.id, same);
  check('waits as long as Retry-After says', (await at(settings.limited).list().page()).threads.length > 0);
  const exhausted = await catchFailure(at(settings.exhausted).list().page());
  check('gives up at once if Retry-After is long', exhausted instanceof RateLimitedError, exhausted);
  check('reports how long to wait', exhausted.retryAfterSeconds === 3600, exhausted.retryAfterSeconds);
  const polled = await at(settings.withoutPrefer).ask('#wait 700\n#say Polled.');
  check('polls if the service does not hold the request', polled.text === 'Polled.');

  const aborting = new AbortController();
  const silence = catchFailure(at(settings.silent).get('thr_1', { signal: aborting.signal }));
  aborting.abort('enough');
  const aborted = await silence;
  check('stops when its signal aborts', aborted.name === 'AbortError' && aborted.cause === 'enough', aborted);
  const hung = await catchFailure(threads.ask('#hang', { timeoutMs: 3_000 }));
  check('names the thread after a timeout', hung.code === 'TIMEOUT' && /^thr_/.test(hung.threadId), hung);
  check('deletes a thread with a running reply', (await threads.delete(hung.threadId)).deleted);

  const portal = await catchFailure(at(settings.portal).list().page());
  check("rejects a proxy's page", portal.code === 'UNEXPECTED_RESPONSE', portal);
  const moved = await catchFailure(at(settings.moved).list().page());
  check('does not follow a redirect', moved.code === 'UNEXPECTED_RESPONSE', moved);
  const stranger = new Skein({ baseUrl: settings.direct, apiKey: 'eak_nobody' });
  const refused = await catchFailure(stranger.threads.list().page());
  check('throws an UnauthorizedError for an unknown key', refused instanceof UnauthorizedError, refused);

  const { direct: baseUrl, clientId, clientSecret } = settings;
  const application = new Skein({ baseUrl, clientId, clientSecret });
  const pages = await Promise.all([1, 2, 3, 4, 5].map(() => application.threads.list().page()));
  check('reads as an application', pages.length === 5 && pages.every((each) => Array.isArray(each.threads)));
  return { passed, lossyThreadId: thread.id };
}
