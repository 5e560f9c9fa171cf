import { startBareServer } from './bare.ts';
import { profilingInto, readShares } from './cpu-profile.ts';
import { load, type Request } from './load.ts';
import type { Plan } from './plan.ts';
import { removeFolder, temporaryFolder } from './processes.ts';
import { createThreads, get, getThreads, listFirstPage, renameThreads } from './requests.ts';
import { compare } from './rounds.ts';
import type { SeededStore } from './seed.ts';
import { startService } from './service.ts';
import { micros, printTable } from './table.ts';

/** Shows where the time of a request goes: by kind of request, and by what the processor was doing. */
export async function showWhereTimeGoes(store: SeededStore, plan: Plan): Promise<void> {
  await showLayers(store, plan);
  const { ownIds, personalKey } = store;
  await showProfile('get', store, getThreads(ownIds, personalKey), plan);
  await showProfile('list, first page of 25', store, listFirstPage(personalKey), plan);
  await showProfile('create', store, createThreads(personalKey), plan);
  await showProfile('rename', store, renameThreads(ownIds, personalKey), plan);
}

/** Measures requests that each do more than the one before. The difference between two rows is what the second one adds. */
async function showLayers({ folder, ownIds, personalKey }: SeededStore, plan: Plan): Promise<void> {
  const service = await startService(folder);
  const gets = getThreads(ownIds, personalKey);
  const page = (limit: number) => [get(`/api/v1/threads?limit=${limit}`, personalKey)];
  const bare = await startBareServer(service, gets[0]!);
  const layers = [
    { name: 'bare node:http, the bytes of a get', target: bare, requests: gets },
    { name: '/healthz: routing, hooks, log', target: service, requests: [get('/healthz', personalKey)] },
    { name: 'get: credential, quota, rows, JSON, ETag', target: service, requests: gets },
    { name: 'list, 1 thread: a cursor to seal', target: service, requests: page(1) },
    { name: 'list, 25 threads', target: service, requests: page(25) },
    { name: 'list, 100 threads', target: service, requests: page(100) },
  ];
  const { results } = await compare(layers, plan.settings);
  await service.stop();
  await bare.stop();
  printTable(
    'Where the time goes: requests of growing weight',
    ['request', 'CPU µs'],
    layers.map(({ name }, index) => [name, micros(results[index]!.cpuMicros)]),
  );
}

const rowsShown = 14;

/** The profiler itself takes some time: the shares are correct, the microseconds slightly high. */
async function showProfile(
  name: string,
  { folder }: SeededStore,
  requests: readonly Request[],
  { profileSeconds, settings: { connections } }: Plan,
): Promise<void> {
  const profiles = temporaryFolder();
  const service = await startService(folder, { NODE_OPTIONS: profilingInto(profiles) });
  await load(service, requests, { connections, seconds: profileSeconds / 2 });
  const { cpuMicros } = await load(service, requests, { connections, seconds: profileSeconds });
  await service.stop();
  const { byPart, byFunction } = readShares(profiles, profileSeconds);
  removeFolder(profiles);
  const rows = (shares: [string, number][]) =>
    shares
      .slice(0, rowsShown)
      .map(([what, share]) => [what, `${(share * 100).toFixed(1)} %`, micros(share * cpuMicros)]);
  printTable(`Profile of ${name}, by part`, ['part', 'share', 'µs'], rows(byPart));
  printTable(`Profile of ${name}, by function`, ['function', 'share', 'µs'], rows(byFunction));
}
