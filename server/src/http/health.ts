import type { FastifyInstance } from 'fastify';
import type { Context } from '../usecases/context.ts';

/** `/healthz`: the process lives. `/readyz`: it can serve, which also needs its store. */
export function health({ store }: Context) {
  return async (app: FastifyInstance): Promise<void> => {
    app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }));
    app.get('/readyz', { schema: { hide: true } }, async (request, reply) => {
      try {
        await store.ping();
        return { status: 'ready' };
      } catch (error) {
        request.log.warn({ err: error, trace_id: request.id }, 'the store does not answer');
        return reply.code(503).send({ status: 'unavailable' });
      }
    });
  };
}
