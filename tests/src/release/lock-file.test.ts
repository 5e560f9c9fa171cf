import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../../harness/service/service.ts';

interface Entry {
  readonly link?: boolean;
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Entry>;
};
const installed = Object.entries(packages).filter(
  ([path, { link }]) => path.includes('node_modules/') && link !== true,
);

describe('The lock file', () => {
  it('has an integrity hash for every package', () => {
    assert.ok(installed.length > 500);
    const missing = installed.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? ''));
    assert.deepEqual(
      missing.map(([path]) => path),
      [],
      'npm left these without a hash: run npm run lock:hashes',
    );
  });

  it('names no registry', () => {
    assert.deepEqual(
      installed.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path),
      [],
    );
  });

  it('has the same Node.js for every Linux that the README promises', () => {
    const versions = ['x64', 'arm64'].map((cpu) => packages[`node_modules/node-linux-${cpu}`]?.version);
    assert.match(versions[0] ?? '', /^24\./);
    assert.equal(versions[1], versions[0]);
  });
});
