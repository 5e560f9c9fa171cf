import { cpus } from 'node:os';
import { evaluateAnswers } from './answers.ts';
import { measureApplicationGets } from './application-gets.ts';
import { measureGrowth } from './growth.ts';
import { measureHeaders } from './headers.ts';
import { endLoad } from './load.ts';
import { measureNeighbors } from './neighbors.ts';
import { measureOperations } from './operations.ts';
import { measurePeers } from './peers/peers.ts';
import { type Plan, readPlan } from './plan.ts';
import { measurePostgres } from './postgres.ts';
import { removeFolder, temporaryFolder } from './processes.ts';
import { measureReplies } from './replies.ts';
import { measureReplyCost } from './reply-cost.ts';
import { seedStore } from './seed.ts';
import { startService } from './service.ts';
import { measureSoak } from './soak.ts';
import { measureStart } from './start.ts';
import { measureCreates, measureSyncs } from './sync.ts';
import { rate, say } from './table.ts';
import { verifyStore } from './verify-store.ts';
import { measureWaitingReads } from './waiting-reads.ts';
import { measureOldWalks } from './walks.ts';
import { showWhereTimeGoes } from './where-time-goes.ts';

const plan = readPlan(process.argv.slice(2));
process.exitCode = plan === undefined ? 1 : await run(plan);

async function run(plan: Plan): Promise<number> {
  const withoutStore = ['headers', 'neighbors', 'postgres', 'soak', 'answers', 'peers', 'start'];
  const withoutRounds = ['headers', 'neighbors', 'soak', 'answers', 'peers', 'start'];
  if ([...plan.parts].some((part) => !withoutRounds.includes(part))) describeMachine(plan);
  if ([...plan.parts].some((part) => !withoutStore.includes(part))) await measure(plan);
  if (plan.parts.has('start')) await measureStart(plan);
  if (plan.parts.has('headers')) await measureHeaders(plan);
  if (plan.parts.has('neighbors')) await measureNeighbors(plan);
  if (plan.parts.has('soak')) await measureSoak(plan);
  if (plan.parts.has('postgres')) await measurePostgres(plan);
  if (plan.parts.has('peers')) await measurePeers(plan);
  await endLoad();
  if (plan.parts.has('answers')) {
    await evaluateAnswers();
    await measureReplyCost();
  }
  return 0;
}

async function measure(plan: Plan): Promise<void> {
  const store = await seedStore(temporaryFolder(), plan.threads);
  const spare = await seedStore(temporaryFolder(), plan.smallThreads);
  const service = await startService(store.folder);
  await verifyStore(service, store);
  await measureOperations(service, store, plan);
  if (plan.parts.has('get-application')) await measureApplicationGets(service, store, plan);
  if (plan.parts.has('sync')) await measureCreates(service, store, spare, plan);
  if (plan.parts.has('walk')) await measureOldWalks(service, store, plan);
  await service.stop();
  if (plan.parts.has('where')) await showWhereTimeGoes(store, plan);
  removeFolder(store.folder);
  removeFolder(spare.folder);
  if (plan.parts.has('replies')) {
    await measureReplies(plan);
    await measureWaitingReads(plan);
  }
  if (plan.parts.has('growth')) await measureGrowth(plan);
}

function describeMachine({ settings, syncSeconds }: Plan): void {
  const folder = temporaryFolder();
  const { rounds, seconds, connections } = settings;
  const processors = cpus();
  say(
    `${processors.length} × ${processors[0]?.model.trim()}, ${process.platform}, Node.js ${process.versions.node}; ` +
      `${rate(measureSyncs(folder, syncSeconds))} fdatasync/s of 4 KiB appends next to the store.`,
  );
  removeFolder(folder);
  say(
    `Medians of ${rounds} rounds of ${seconds} s each, alternating between the variants; ${connections} connections on the loopback ` +
      'address, with the load from a separate process. CPU: processor time of the service per request.',
  );
}
