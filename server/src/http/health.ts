import type { FastifyInstance } from 'fastify';
import type { Drain } from '../usecases/drain.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';

export const readyUrl = '/readyz';

/** `/healthz`: the process runs. `/readyz`: it can serve requests, for which it needs its store. */
export function health({ storeHealth }: SurfaceContext, drain: Drain) {
  return async (app: FastifyInstance): Promise<void> => {
    app.get('/healthz', async () => ({ status: 'ok' }));
    app.get(readyUrl, async (request, reply) => {
      drain.probeArrived();
      if (drain.isStarted) return reply.code(503).send({ status: 'draining' });
      try {
        await storeHealth.ping();
        return { status: 'ready' };
      } catch (error) {
        request.log.warn({ err: error, trace_id: request.id }, 'the store does not answer');
        return reply.code(503).send({ status: 'unavailable' });
      }
    });
  };
}
