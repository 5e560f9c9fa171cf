import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds } from './load.ts';
import { removeFolder, root, temporaryFolder } from './processes.ts';
import { call, inParallel, median, prepareDemo } from './replies.ts';
import { type Environment, type Service, startService } from './service.ts';
import { ms, printTable, rate } from './table.ts';

const atOnce = 64;
const warmUp = 500;
const alone = 100;
const together = 1_500;

/**
 * Measures what a reply over the demo's documents costs the service, including its create and a get that waits for it.
 * The scripted model does nothing, so the difference is the cost of the default model.
 */
export async function measureReplyCost(): Promise<void> {
  const questions: { set: string; question: string }[] = JSON.parse(
    readFileSync(join(root, 'bench/evaluation/questions.json'), 'utf8'),
  );
  const asked = questions.filter(({ set }) => set === 'demo').map(({ question }) => question);
  printTable(
    `Replies over the demo's documents, ${atOnce} at once`,
    ['model', 'replies/s', 'CPU ms a reply', 'of it on the event loop', 'alone, ms to the reply'],
    [
      ['extractive', ...(await measureModel(asked, {}))],
      ['scripted', ...(await measureModel(['#step Reading\n#say A sentence.'], { SKEIN_MODEL: 'scripted' }))],
    ],
  );
}

async function measureModel(prompts: readonly string[], environment: Environment): Promise<string[]> {
  const folder = temporaryFolder();
  const service = await startService(folder, environment);
  const key = await prepareDemo(folder);
  const tookMs: number[] = [];
  let asked = 0;
  const ask = async () => {
    const prompt = prompts[asked++ % prompts.length];
    const began = performance.now();
    const { thread } = await call(service, key, 'POST', '/threads', { prompt });
    await call(service, key, 'GET', `/threads/${thread.id}`, undefined, { prefer: 'wait=20' });
    tookMs.push(performance.now() - began);
  };
  await inParallel(warmUp, atOnce, ask);
  tookMs.length = 0;
  await inParallel(alone, 1, ask);
  const aloneMs = median(tookMs);
  const [cpuBefore, loopBefore] = [cpuSeconds(service.pid), loopTicks(service)];
  const began = performance.now();
  await inParallel(together, atOnce, ask);
  const seconds = (performance.now() - began) / 1000;
  const cpuMs = ((cpuSeconds(service.pid) - cpuBefore) * 1000) / together;
  const loopMs = ((loopTicks(service) - loopBefore) * 10) / together;
  await service.stop();
  removeFolder(folder);
  return [rate(together / seconds), ms(cpuMs), ms(loopMs), ms(aloneMs)];
}

/** Processor time of the main thread, in hundredths of a second. */
function loopTicks({ pid }: Service): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
