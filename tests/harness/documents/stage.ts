import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dropDatabase, testDatabase } from '../postgres/databases.ts';
import { cleanEnvironment, operate, root, Service, temporaryFolder } from '../service/service.ts';

/** npx takes 0.5 s of processor time to find a command that is in this folder. readme.test.ts runs the real one. */
export function writeNpx(folder: string): void {
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/npx'), '#!/bin/sh\nexec "./node_modules/.bin/$@"\n', { mode: 0o755 });
}

export const pathWithNpx = (folder: string) =>
  `${join(folder, 'bin')}:${process.env.PATH}:${join(root, 'tests/stand-ins')}`;

/**
 * Where the samples of a page are run: a folder with the installed packages and a question in a file, a service with
 * the demo, and values that replace the placeholders on the page.
 */
export class Stage {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly #service: Service;
  readonly #database: string;
  readonly #replacements: readonly (readonly [string, string])[];

  private constructor(
    service: Service,
    database: string,
    replacements: readonly (readonly [string, string])[],
  ) {
    this.folder = service.folder;
    this.environment = cleanEnvironment({
      ...service.store,
      // Replaces the default URL, which the pages rely on.
      SKEIN_BASE_URL: service.baseUrl,
      PATH: pathWithNpx(service.folder),
    });
    this.#service = service;
    this.#database = database;
    this.#replacements = replacements;
  }

  static async set(): Promise<Stage> {
    const folder = temporaryFolder();
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'question.txt'), 'What is a skein?');
    writeNpx(folder);
    const environment = { SKEIN_DATABASE_URL: `sqlite:${join(folder, 'served.db')}` };
    const service = await Service.start({ folder, environment });
    // The pages use `./data/skein.db` while no service is running on it.
    await operate(folder, ['org', 'create', 'Resting']);
    const { key } = await service.skein('key', 'create', 'Demo', '--user', 'admin@demo.example');
    const { clientId, clientSecret } = await service.skein('app', 'create', 'Demo', '--name', 'sample');
    const database = await testDatabase();
    return new Stage(service, database, [
      ['http://127.0.0.1:8080', service.baseUrl],
      ['eak_…', key],
      ['app_…', clientId],
      ['eas_…', clientSecret],
      ['postgres://skein:PASSWORD@db.internal/skein', database],
    ]);
  }

  /** The sample with its placeholders replaced. */
  filledIn(sample: string): string {
    const text = this.#replacements.reduce((filled, [name, value]) => filled.replaceAll(name, value), sample);
    const code = text.replaceAll(/^ *(?:\/\/|#).*$/gm, '');
    assert.ok(!code.includes('…'), `something is left to be filled in:\n${text}`);
    return text;
  }

  async strike(): Promise<void> {
    await this.#service.end();
    await dropDatabase(this.#database);
  }
}
