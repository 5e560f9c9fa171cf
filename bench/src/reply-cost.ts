import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds } from './load.ts';
import { removeFolder, root, temporaryFolder } from './processes.ts';
import { call, inParallel, median, prepareDemo } from './replies.ts';
import { startService } from './service.ts';
import { ms, rate, say } from './table.ts';

const atOnce = 64;
const warmUp = 300;
const alone = 300;
const together = 3_000;

/**
 * What a reply of the default model over the demo's documents costs: a create, the reply and a get that waits for it. The
 * questions are those of bench/evaluation about the demo, in turn.
 */
export async function measureReplyCost(): Promise<void> {
  const folder = temporaryFolder();
  const service = await startService(folder);
  const key = await prepareDemo(folder);
  const questions: { set: string; question: string }[] = JSON.parse(
    readFileSync(join(root, 'bench/evaluation/questions.json'), 'utf8'),
  );
  const prompts = questions.filter(({ set }) => set === 'demo').map(({ question }) => question);
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
  const cpuBefore = cpuSeconds(service.pid);
  const began = performance.now();
  await inParallel(together, atOnce, ask);
  const seconds = (performance.now() - began) / 1000;
  const cpuMs = ((cpuSeconds(service.pid) - cpuBefore) * 1000) / together;
  await service.stop();
  removeFolder(folder);
  say(
    `${prompts.length} questions about the demo's documents, ${atOnce} at once: ${rate(together / seconds)} replies a second, ` +
      `${cpuMs.toFixed(2)} ms of CPU per reply including its create and its get; alone, ${ms(aloneMs)} ms from create to reply.`,
  );
}
