import type { FastifyInstance } from 'fastify';
import type { Context } from '../usecases/context.ts';

/** `/healthz`: the process lives. `/readyz`: it can serve, which also needs its store. */
export function health({ store }: Context, isClosing: () => boolean) {
  return async (app: FastifyInstance): Promise<void> => {
    app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }));
    app.get('/readyz', { schema: { hide: true } }, async (request, reply) => {
      const fault = isClosing()
        ? 'closing'
        : await store.ping().then(
            () => undefined,
            (error: unknown) => error,
          );
      if (fault === undefined) return { status: 'ready' };
      if (fault !== 'closing')
        request.log.warn({ err: fault, trace_id: request.id }, 'the store does not answer');
      return reply.code(503).send({ status: 'unavailable' });
    });
  };
}
