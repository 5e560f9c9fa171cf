import { globSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './service.ts';

/**
 * Test files that run in one process per group, where they share a service (`sharedService`), a browser
 * (`sharedBrowser`) and the process that runs the operator's commands. Starting these for each file would take 2 to 4 s of
 * processor time per file. Each file can also be run alone: `npx node --test FILE`.
 */
export const groups = {
  browser: ['tests/src/browser/!(looks).test.ts'],
  client: ['tests/src/client/*.test.ts'],
  commands: [
    'tests/src/command-*.test.ts',
    'tests/src/{commands,configuration,doc-command,mcp,model-command,remote-commands}.test.ts',
  ],
  console: ['tests/src/console/!(settings-*).test.ts'],
  data: ['tests/src/{backup,crash,purge,retention,upgrade}.test.ts'],
  disk: ['tests/src/disk/*.test.ts'],
  generation: [
    'server/src/generation/**/!(document-reader|long-drafts).test.ts',
    'server/src/storage/sql/*.test.ts',
  ],
  nodes: ['tests/src/nodes/!(rolling-restarts|pgbouncer|database-outages).test.ts'],
  oauth: ['tests/src/oauth/*.test.ts'],
  operation: ['tests/src/{logging,mail,metrics,operating,otlp}.test.ts'],
  postgres: ['server/src/storage/postgres/!(store).test.ts'],
  properties: ['tests/src/access-matrix.test.ts', 'tests/src/properties/*.test.ts'],
  protocol: [
    'tests/src/{late-bodies,malformed-http,quota,revocation,trusted-proxies}.test.ts',
    'tests/src/sockets/{closing,large-bodies,pipelining}.test.ts',
  ],
  replies: ['tests/src/replies/*.test.ts'],
  settings: ['tests/src/console/settings-*.test.ts'],
  spec: ['tests/src/openapi.test.ts', 'tests/src/spec/*.test.ts'],
  storage: ['server/src/storage/*.test.ts', 'server/src/storage/sqlite/!(store).test.ts'],
} as const satisfies Record<string, readonly string[]>;

export type GroupName = keyof typeof groups;

export function filesOf(name: GroupName): string[] {
  return globSync(groups[name], { cwd: root }).sort();
}

/** Registers the tests of all files of the group in this process. */
export async function importGroup(name: GroupName): Promise<void> {
  for (const file of filesOf(name)) await import(join(root, file));
}
