import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../processes.ts';

/** The versions that are compared. */
const packages = {
  langgraph: {
    '@langchain/core': '1.2.13',
    '@langchain/langgraph': '1.4.18',
    '@langchain/langgraph-api': '2.0.0',
    '@langchain/langgraph-checkpoint': '1.1.5',
    // Later patches need a version of `@langchain/protocol` that not every registry has.
    '@langchain/langgraph-sdk': '1.12.3',
    typescript: '5.9.3',
  },
  mastra: {
    '@mastra/core': '1.71.0',
    '@mastra/libsql': '1.23.1',
    '@mastra/memory': '1.31.0',
    mastra: '1.31.0',
  },
  voltagent: {
    '@voltagent/core': '2.10.0',
    '@voltagent/libsql': '2.1.2',
    '@voltagent/server-hono': '2.0.14',
  },
};

export type PeerName = keyof typeof packages;

const installWithinMs = 240_000;
const buildWithinMs = 180_000;

/** Installs a peer and its program into a temporary folder, once: it is kept between runs. Returns the folder. */
export async function install(peer: PeerName): Promise<string> {
  const programs = join(root, 'bench/peers');
  const wanted = createHash('sha256').update(JSON.stringify(packages[peer]));
  for (const file of readdirSync(programs).sort()) wanted.update(readFileSync(join(programs, file)));
  const folder = join(tmpdir(), `skein-bench-${peer}-${wanted.digest('hex').slice(0, 12)}`);
  if (!existsSync(folder)) {
    const unfinished = `${folder}.${process.pid}`;
    mkdirSync(unfinished);
    try {
      writeFileSync(
        join(unfinished, 'package.json'),
        JSON.stringify({ type: 'module', private: true, dependencies: packages[peer] }),
      );
      const words = ['install', '--no-audit', '--no-fund', '--no-package-lock'];
      // The peer dependencies of the LangGraph packages contradict each other.
      if (peer === 'langgraph') words.push('--legacy-peer-deps');
      await run('npm', words, unfinished, installWithinMs);
      renameSync(unfinished, folder);
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  cpSync(programs, folder, { recursive: true });
  if (peer === 'mastra' && !existsSync(join(folder, '.mastra/output/index.mjs'))) await buildMastra(folder);
  return folder;
}

async function buildMastra(folder: string): Promise<void> {
  const sources = join(folder, 'src/mastra');
  mkdirSync(sources, { recursive: true });
  cpSync(join(folder, 'canned-reply.mjs'), join(sources, 'canned-reply.mjs'));
  cpSync(join(folder, 'mastra.mjs'), join(sources, 'index.js'));
  await run(join(folder, 'node_modules/.bin/mastra'), ['build'], folder, buildWithinMs);
}

async function run(command: string, words: string[], cwd: string, timeout: number): Promise<void> {
  await promisify(execFile)(command, words, { cwd, timeout, env: quietEnvironment(), maxBuffer: 2 ** 26 });
}

/** Turns off the peers' telemetry. */
export function quietEnvironment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    MASTRA_TELEMETRY_DISABLED: '1',
    VOLTAGENT_TELEMETRY_DISABLED: 'true',
    LANGSMITH_TRACING: 'false',
    DO_NOT_TRACK: '1',
  };
}
