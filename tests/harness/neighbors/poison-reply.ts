import { Service } from '../service/service.ts';
import type { NeighborhoodSettings } from './neighborhood.ts';
import { type Noise, usualGrownMbMax } from './noise.ts';

/** The scripted model can kill its process. Requests are answered by another process, which writes no replies. */
export const poisonSettings: NeighborhoodSettings = {
  environment: { SKEIN_MODEL: 'scripted' },
  words: ['--role', 'api'],
};

/** Needs a neighborhood with `poisonSettings`. Leaves a worker running, which ends with this process. */
export const poisonReply: Noise = {
  name: 'a reply that kills every worker that writes it',
  outcomes: ['a worker died', 'failed'],
  grownMbMax: usualGrownMbMax,
  isAboutStore: false,
  async make({ service: { folder }, noisy: { api } }) {
    const { body } = await api.create({ prompt: '#step Reading\n#crash' });
    const outcomes: string[] = [];
    let worker: Service | undefined;
    for (;;) {
      // The last worker survives and settles the reply as failed, because no attempts are left.
      if (worker === undefined || !isRunning(worker)) worker = await startWorker(folder);
      const { status, messages } = (await api.get(body.thread.id, { prefer: 'wait=1' })).body;
      if (status.state !== 'in_progress') return [...outcomes, messages[1].status];
      if (worker === undefined || !isRunning(worker)) outcomes.push('a worker died');
    }
  },
};

function isRunning({ pid }: Service): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Undefined if it died before it was ready. */
async function startWorker(folder: string): Promise<Service | undefined> {
  try {
    return await Service.start({
      folder,
      words: ['--role', 'worker'],
      environment: poisonSettings.environment!,
    });
  } catch {
    return undefined;
  }
}
