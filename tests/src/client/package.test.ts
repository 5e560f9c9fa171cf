import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { root } from '../../harness/service/service.ts';
import { consumerProject, packedFiles } from './packed.ts';

const run = promisify(execFile);
const bin = (name: string) => join(root, 'node_modules/.bin', name);
const read = (...parts: string[]) => readFileSync(join(...parts), 'utf8');

describe("The client's package", () => {
  let project: string;
  let files: string[];
  before(async () => {
    project = await consumerProject();
    files = await packedFiles();
  });

  it('contains only JavaScript, types and the README', () => {
    assert.ok(files.includes('dist/index.js') && files.includes('dist/index.d.ts'));
    const others = files.filter((path) => !/^dist\/[a-z-]+(\.js|\.d\.ts)$/.test(path));
    assert.deepEqual(others, ['README.md', 'package.json']);
  });

  it('has no dependencies', () => {
    const manifest = JSON.parse(read(project, 'node_modules/@skein/client/package.json'));
    const { dependencies, peerDependencies, optionalDependencies, scripts } = manifest;
    assert.deepEqual(
      [dependencies, peerDependencies, optionalDependencies, scripts],
      Array(4).fill(undefined),
    );
    const imported = files
      .filter((path) => path.startsWith('dist/'))
      .flatMap((path) => [
        ...read(project, 'node_modules/@skein/client', path).matchAll(/\b(?:from|import\() ?['"](.+?)['"]/g),
      ])
      .map(([, specifier]) => specifier as string);
    assert.ok(imported.length > 20);
    assert.deepEqual(
      imported.filter((specifier) => !/^\.\/[a-z-]+\.(js|ts)$/.test(specifier)),
      [],
    );
  });

  it('exports its own version', () => {
    const { version } = JSON.parse(read(root, 'client/package.json'));
    assert.match(read(project, 'node_modules/@skein/client/dist/version.js'), new RegExp(`'${version}'`));
  });

  it('has the types of openapi.json, and its check notices a difference', async () => {
    const generator = join(root, 'client/generate-types.ts');
    await run(process.execPath, [generator, '--check']);
    const drifted = JSON.parse(read(root, 'openapi.json'));
    drifted.components.schemas.Thread.properties.color = { type: 'string' };
    writeFileSync(join(project, 'drifted.json'), JSON.stringify(drifted));
    const check = run(process.execPath, [generator, '--check', join(project, 'drifted.json')]);
    await assert.rejects(check, { code: 1, stderr: /npm run client:types/ });
  });

  describe('in a TypeScript project', () => {
    /** Returns the compiler's errors for each program under these settings. */
    const compile = async (programs: string[], settings: object = {}): Promise<string[][]> => {
      const compilerOptions = {
        target: 'es2022',
        module: 'nodenext',
        lib: ['es2022', 'dom'],
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        ...settings,
      };
      const folder = mkdtempSync(join(project, 'typed-'));
      const files = programs.map((_, index) => `program-${index}.ts`);
      files.forEach((file, index) => {
        writeFileSync(join(folder, file), programs[index] as string);
      });
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      const options = { cwd: folder };
      const outcome = await run(bin('tsc'), ['-p', '.'], options).catch((error) => error);
      assert.ok(outcome.code === undefined || outcome.stdout !== '', `tsc ran: ${outcome.message}`);
      const errors: string[] = outcome.stdout.split(/^(?=\S)/m);
      return files.map((file) => errors.filter((error) => error.startsWith(file)));
    };
    const head = `import { NotFoundError, RateLimitedError, ReplyFailedError, Skein, SkeinError, type Thread } from '@skein/client';
const client = new Skein({ baseUrl: 'https://skein.example', apiKey: 'eak_1' });
`;
    const good = `${head}
new Skein({ baseUrl: 'https://skein.example', clientId: 'a', clientSecret: 'b', authUrl: 'https://auth.example' });
new Skein({ baseUrl: 'https://skein.example', apiKey: 'a', fetch, retries: 2, timeoutMs: 1000, userAgent: 'me/1' });
const signal: AbortSignal | undefined = undefined;
const { thread, responseMessageId } = await client.threads.create({ prompt: 'Hi', title: 'Hello', accountId: undefined }, { signal });
const id: string = responseMessageId;
const read = await client.threads.get(thread.id, { waitSeconds: 20 });
const state: 'idle' | 'in_progress' | 'error' = read.status.state;
const changed = await client.threads.get(thread.id, { etag: read.etag });
if (changed !== null) console.log(changed.messages.length);
for await (const each of client.threads.list({ accountId: 'a' })) each satisfies Thread;
for await (const page of client.threads.list().pages()) console.log(page.nextCursor ?? 'end', page.truncated);
try {
  const { text, sources } = await client.threads.ask('Hi', { onStep: (step) => console.log(step.description) });
  console.log(text.length, sources.map(({ title, url }) => [title, url ?? '']), id, state);
} catch (error) {
  if (error instanceof RateLimitedError) console.log(error.retryAfterSeconds?.toFixed());
  else if (error instanceof ReplyFailedError) console.log(error.thread.id, error.reply.status);
  else if (error instanceof SkeinError && error.code === 'NOT_FOUND') console.log(error.traceId, error.threadId);
}
const deleted: true = (await client.threads.delete(thread.id)).deleted;
console.log(deleted, NotFoundError.name);
`;

    it('compiles under strict settings, for browsers and for Node.js', async () => {
      const typeRoots = [join(root, 'node_modules/@types')];
      const places = [
        {},
        { lib: ['es2022'], types: ['node'], typeRoots },
        { module: 'esnext', moduleResolution: 'bundler' },
      ];
      for (const place of places) assert.deepEqual(await compile([good], place), [[]]);
    });

    it('rejects wrong uses at compile time', async () => {
      const wrong: [string, RegExp][] = [
        [`new Skein({ baseUrl: 'https://skein.example' });`, /TS2345/],
        [`new Skein({ baseUrl: 'x', apiKey: 'a', clientId: 'b', clientSecret: 'c' });`, /TS23(22|45)/],
        [`new Skein({ baseUrl: 'x', clientId: 'b' });`, /TS2345.*clientSecret|clientSecret/s],
        [`await client.threads.create({ title: 'No prompt' });`, /prompt/],
        [`await client.threads.create({ prompt: 'x', color: 'red' });`, /color/],
        [`await client.threads.ask('x', { onStep: (step: number) => step });`, /TS2322/],
        [`(await client.threads.get('x', { etag: '1' })).thread;`, /TS2531|TS18047/],
        [`(await client.threads.get('x')).status.state === 'done';`, /TS2367/],
        [`for (const thread of client.threads.list()) thread;`, /TS2488/],
        [`(await client.threads.list().page()).threads[0].id;`, /TS2532/],
      ];
      const errors = await compile(wrong.map(([line]) => `${head}${line}\n`));
      wrong.forEach(([line, expected], index) => {
        assert.equal(errors[index]?.length, 1, `${line}: ${errors[index]}`);
        assert.match(errors[index]?.[0] ?? '', expected, line);
      });
    });
  });
});
