import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { runCommand, runSkein, type Service } from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';
import { makeMember, makeOrganization } from '../../harness/world/tenants.ts';

const docId = /^doc_[0-9a-hjkmnp-tv-z]{26}$/;

describe('skein doc, with a running service', () => {
  let service: Service;
  let org: string;
  let api: Api;
  before(async () => {
    service = await sharedService({ SKEIN_MODEL: 'extractive' });
    ({ org, api } = await found('Acme'));
  });

  async function found(name: string) {
    const made = await makeOrganization(service, name);
    return { org: made, api: (await makeMember(service, made, 'ada@example.com')).api };
  }
  function file(name: string, content: string | Uint8Array): string {
    const path = join(service.folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
    return name;
  }
  async function answerTo(asking: Api, body: { prompt: string; accountId?: string }) {
    const { body: created } = await asking.create(body);
    return (await asking.untilDone(created.thread.id)).messages[1];
  }

  it('add creates a document that the next reply uses and cites', async () => {
    const name = file('warranty.md', '# Warranty\n\nEvery umbrella has a warranty of seven years.\n');
    const added = await service.skein('doc', 'add', org, name);
    assert.match(added.id, docId);
    assert.deepEqual(added.documents, [
      { name, id: added.id, title: 'Warranty', passageCount: 1, replaced: false },
    ]);
    assert.deepEqual(added.failed, []);
    const reply = await answerTo(api, { prompt: 'How long is the warranty of an umbrella?' });
    assert.equal(reply.status, 'completed');
    assert.match(reply.content, /seven years.*\[1\]/);
    assert.equal(reply.model, 'extractive');
    assert.deepEqual(
      reply.sources.map(({ id, title, url }: Record<string, unknown>) => ({ id, title, url })),
      [{ id: added.id, title: 'Warranty', url: null }],
    );
    assert.match(reply.sources[0].snippet, /seven years/);
  });

  it('add replaces the document of the same name, under the same id', async () => {
    const name = file('prices.md', 'A kite costs 10 euros.');
    const first = await service.skein('doc', 'add', org, name);
    file('prices.md', 'A kite costs 12 euros.');
    const second = await service.skein('doc', 'add', org, name);
    assert.equal(second.id, first.id);
    assert.equal(second.documents[0].replaced, true);
    const { content } = await answerTo(api, { prompt: 'What does a kite cost?' });
    assert.match(content, /12 euros/);
    assert.doesNotMatch(content, /10 euros/);
  });

  it('add with --account limits a document to threads of that account', async () => {
    const name = file('terms.txt', 'The discount of this customer is 17 percent.');
    await service.skein('doc', 'add', org, name, '--account', 'acc_1');
    const prompt = 'What is the discount of this customer?';
    assert.match((await answerTo(api, { prompt, accountId: 'acc_1' })).content, /17 percent/);
    for (const body of [{ prompt }, { prompt, accountId: 'acc_2' }]) {
      const reply = await answerTo(api, body);
      assert.doesNotMatch(reply.content, /17/);
      assert.equal(reply.sources, null);
    }
  });

  it('hides the documents of one organization from another', async () => {
    const globex = await found('Globex');
    await service.skein('doc', 'add', org, file('secret.md', 'The vault opens with the word marzipan.'));
    const prompt = 'With which word does the vault open?';
    assert.match((await answerTo(api, { prompt })).content, /marzipan/);
    const reply = await answerTo(globex.api, { prompt });
    assert.doesNotMatch(reply.content, /marzipan/);
    assert.equal(reply.sources, null);
  });

  it('adds every file of a folder that can be read, except hidden ones', async () => {
    file('handbook/a.md', 'Alpha is the first letter.');
    file('handbook/deep/b.HTML', '<title>Beta</title><p>Beta is the second letter.</p>');
    file('handbook/picture.png', 'no text');
    file('handbook/.hidden.md', 'A draft.');
    file('handbook/.git/description.md', 'A repository.');
    const { documents, failed } = await service.skein('doc', 'add', org, 'handbook');
    assert.deepEqual(failed, []);
    assert.deepEqual(
      documents.map(({ name }: { name: string }) => name),
      ['handbook/a.md', 'handbook/deep/b.HTML'],
    );
    assert.match((await answerTo(api, { prompt: 'What is beta?' })).content, /second letter/);
  });

  it('add explains what is wrong with each bad file, adds the others, and exits with 1', async () => {
    const bad: [string, string | Uint8Array, RegExp][] = [
      ['bad/empty.md', '', /is empty/],
      ['bad/blank.txt', ' \n\t\n', /contains no text|is empty/],
      ['bad/latin.txt', Uint8Array.from([0x63, 0x61, 0x66, 0xe9]), /UTF-8/],
      ['bad/noise.pdf', 'not a PDF at all', /damaged/],
      ['bad/sheet.xlsx', 'PK', /has an unsupported file type/],
    ];
    for (const [name, content] of bad) file(name, content);
    file('bad/large.txt', 'x');
    truncateSync(join(service.folder, 'bad/large.txt'), 60_000_000);
    const good = file('good.md', 'Good files are added.');
    const names = [...bad.map(([name]) => name), 'bad/large.txt', 'bad/missing.md', good];
    const outcome = await runSkein(service.folder, ['doc', 'add', org, ...names]);
    assert.equal(outcome.exitCode, 1);
    assert.match(outcome.stdout, /^doc_\w+ +1 passage +good\n7 could not be added: see above\.\n$/i);
    const lines = outcome.stderr.trimEnd().split('\n');
    assert.equal(lines.length, 7);
    const reasons = [...bad.map(([name, , reason]) => [name, reason] as const)];
    for (const [name, reason] of [
      ...reasons,
      ['bad/large.txt', /larger than 50 MB/] as const,
      ['bad/missing.md', /file not found/] as const,
    ]) {
      const line = lines.find((each) => each.startsWith(`${name}: `));
      assert.ok(line, name);
      assert.match(line, reason);
      assert.doesNotMatch(line, /\bat .*\.ts\b|Error:/);
    }
    rmSync(join(service.folder, 'bad'), { recursive: true });
  });

  it('add says that a folder has no documents, and exits with 1', async () => {
    file('pictures/one.png', 'no text');
    const { exitCode, stdout, stderr } = await runCommand(service.folder, ['doc', 'add', org, 'pictures']);
    assert.deepEqual([exitCode, stdout], [1, 'No documents were added.\n']);
    assert.match(stderr, /^pictures: contains no file of a supported type: use \.md, [^\n]+\n$/);
  });

  it('add asks to rename files and folders whose names are not UTF-8, and adds the others', async () => {
    const good = file('latin/good.md', 'Good files are added.');
    const named = (name: string) => Buffer.from(`${join(service.folder, 'latin')}/${name}`, 'latin1');
    writeFileSync(named('caf\xe9.md'), 'A café.');
    mkdirSync(named('m\xfcll'));
    const { exitCode, stderr } = await runSkein(service.folder, ['doc', 'add', org, 'latin']);
    assert.equal(exitCode, 1);
    const lines = stderr.trimEnd().split('\n').sort();
    assert.deepEqual(lines, [
      'latin/caf\uFFFD.md: has a name that is not UTF-8: rename it',
      'latin/m\uFFFDll: has a name that is not UTF-8: rename it',
    ]);
    const { documents } = await service.skein('doc', 'add', org, good);
    assert.equal(documents[0].replaced, true);
  });

  it('add reads linked files, follows no circular links or links out of the folder, skips pipes, and names folders it cannot open', async () => {
    file('linked/a.md', 'Alpha.');
    const folder = join(service.folder, 'linked');
    symlinkSync('.', join(folder, 'self'));
    symlinkSync('..', join(folder, 'up'));
    symlinkSync('a.md', join(folder, 'b.md'));
    symlinkSync('nowhere.md', join(folder, 'c.md'));
    symlinkSync(process.execPath, join(folder, 'outside.md'));
    execFileSync('mkfifo', [join(folder, 'd.md')]);
    const { exitCode, stdout, stderr } = await runSkein(service.folder, [
      'doc',
      'add',
      org,
      'linked',
      'linked/d.md',
      '--json',
    ]);
    assert.equal(exitCode, 1);
    const { documents, failed } = JSON.parse(stdout);
    assert.deepEqual(
      documents.map(({ name }: { name: string }) => name),
      ['linked/a.md', 'linked/b.md'],
    );
    assert.deepEqual(failed, [
      { name: 'linked/c.md', reason: 'file not found' },
      { name: 'linked/d.md', reason: 'is not a file' },
    ]);
    assert.equal(stderr.trimEnd().split('\n').length, 2);
  });

  it('list shows the documents, and remove takes effect at once', async () => {
    const shelf = await found('Shelf');
    const { id } = await service.skein(
      'doc',
      'add',
      shelf.org,
      file('otter.md', '# Otters\n\nAn otter eats fish.'),
    );
    const [listed, ...others] = await service.skein('doc', 'list', shelf.org);
    assert.deepEqual(others, []);
    const { stdout } = await runCommand(service.folder, ['doc', 'list', shelf.org]);
    assert.match(stdout, /\n\n1 of 10,000 documents, 19 bytes of 1 GB of text\n$/);
    assert.deepEqual(
      { ...listed, addedAt: 0 },
      {
        id,
        accountId: null,
        name: 'otter.md',
        title: 'Otters',
        url: null,
        passageCount: 1,
        bytes: 19,
        addedAt: 0,
      },
    );
    assert.match((await answerTo(shelf.api, { prompt: 'What does an otter eat?' })).content, /fish/);
    assert.deepEqual(await service.skein('doc', 'remove', shelf.org, id), { id, removed: true });
    assert.deepEqual(await service.skein('doc', 'list', shelf.org), []);
    assert.doesNotMatch((await answerTo(shelf.api, { prompt: 'What does an otter eat?' })).content, /fish/);
    const again = await runCommand(service.folder, ['doc', 'remove', shelf.org, id]);
    assert.equal(again.exitCode, 1);
    assert.match(
      again.stderr,
      /^skein: The organization has no document doc_\w+: run 'skein doc list org_\w+' to see/,
    );
    const foreign = await service.skein('doc', 'add', shelf.org, 'otter.md');
    const stolen = await runCommand(service.folder, ['doc', 'remove', org, foreign.id]);
    assert.equal(stolen.exitCode, 1);
  });

  it('search shows the passages that a reply would use', async () => {
    await service.skein(
      'doc',
      'add',
      org,
      file('badger.md', '# Badgers\n\n## Homes\n\nA badger lives in a sett.'),
    );
    const { searched, passages } = await service.skein('doc', 'search', org, 'Where does a badger live?');
    assert.ok(searched >= 1);
    assert.equal(passages[0].text, 'A badger lives in a sett.');
    assert.equal(passages[0].heading, 'Homes');
    assert.equal(passages[0].title, 'Badgers');
    const { stdout } = await runCommand(service.folder, ['doc', 'search', org, 'badger', '--limit', '1']);
    assert.match(stdout, /^1\. Badgers › Homes {2}\(doc_\w+\)\n {3}A badger lives in a sett\.\n$/);
    const nothing = await runCommand(service.folder, ['doc', 'search', org, 'xylophone']);
    assert.match(nothing.stdout, /^Nothing found in \d+ passages?\.\n$/);
  });

  it('rejects an unknown organization and invalid arguments', async () => {
    for (const words of [
      ['doc', 'add', 'Nowhere', 'otter.md'],
      ['doc', 'list', 'Nowhere'],
      ['doc', 'add', org],
      ['doc', 'add', org, 'otter.md', '--account', ''],
      ['doc', 'search', org, 'otter', '--limit', '0'],
    ]) {
      const { exitCode, stdout, stderr } = await runCommand(service.folder, words);
      assert.deepEqual([exitCode, stdout], [1, ''], words.join(' '));
      assert.match(stderr, /^skein: [^\n]+\n$/);
    }
  });
});
