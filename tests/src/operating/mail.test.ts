import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ConsoleClient, signedInMember, testPassword } from '../../harness/console/console-client.ts';
import { assertDone, assertRefused, Visitor } from '../../harness/console/visitor.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { type Answer, MailServer } from '../../harness/service/mail-server.ts';
import { operate, runCommand, runSkein, Service, temporaryFolder } from '../../harness/service/service.ts';
import { clockOffBy, clockThatLeaps } from '../../harness/service/shifted-clock.ts';

const leapMs = 120_000;

describe('Invitations by email', () => {
  let server: MailServer;
  let service: Service;
  let admin: Visitor;
  let environment: Record<string, string>;
  let organizationId: string;
  const folder = temporaryFolder();
  /** How the server treats a recipient the next few times; afterwards it accepts. */
  const answers = new Map<string, Answer[]>();
  before(async () => {
    server = await MailServer.start();
    server.answer = (recipient) => answers.get(recipient)?.shift() ?? 'accept';
    environment = { ...server.environment(), ...clockThatLeaps(leapMs), SKEIN_MODEL: 'scripted' };
    service = await Service.start({ folder, environment });
    organizationId = (await service.skein('org', 'create', 'Müller & <Söhne>')).id;
    admin = new Visitor(
      await signedInMember(service, organizationId, 'ada@example.org', 'admin'),
      organizationId,
    );
  });
  after(async () => {
    await service?.end();
    await server?.close();
  });

  async function invite(email: string, ...nextAnswers: Answer[]) {
    answers.set(email, nextAnswers);
    const body = { email, role: 'member', service: false };
    const invited = assertDone(await admin.post('/members', body), 201);
    assert.deepEqual([invited.link, invited.mailed], [null, true], 'the admin does not see the link');
    return invited;
  }

  const listed = async (email: string) =>
    assertDone(await admin.get('/members')).members.find((member: any) => member.email === email);
  const untilState = (email: string, state: string) =>
    eventually(
      async () => (await listed(email)).mailState,
      (found) => found === state,
    );
  const attempted = (email: string) => eventually(() => server.named.includes(email));
  const output = () => service.output.join('\n');

  it('sends the link only to the person, who joins with it', async () => {
    await invite('ben@example.org');
    const { from, raw, link } = await server.mailTo('ben@example.org');
    assert.equal(from, 'skein@example.org');
    assert.ok(raw.includes('From: Skein <skein@example.org>'));
    assert.ok(raw.includes('Auto-Submitted: auto-generated'));
    assert.ok(!raw.includes('<Söhne>'), 'the name is escaped');
    assert.ok(link.startsWith(`${service.baseUrl}/invitation#`), raw);
    await untilState('ben@example.org', 'sent');
    await Visitor.accept(organizationId, link);
    assert.equal((await listed('ben@example.org')).state, 'active');
    assert.ok(!output().includes(link.split('#')[1]!), 'the link is not logged');
  });

  it('sends a new link again, which replaces the old one', async () => {
    const { id } = await invite('carl@example.org');
    const first = await server.mailTo('carl@example.org');
    assertDone(await admin.post(`/members/${id}/invitation`), 201);
    const { link } = await server.mailTo('carl@example.org', 2);
    await assert.rejects(Visitor.accept(organizationId, first.link));
    await Visitor.accept(organizationId, link);
  });

  it('sends to addresses with non-ASCII characters', async () => {
    await invite('jörg@bücher.example');
    const { to } = (await eventually(
      () => server.received.find((mail) => mail.to.startsWith('jörg@')),
      (mail) => mail !== undefined,
    )) as { to: string };
    assert.match(to, /^jörg@(bücher|xn--bcher-kva)\.example$/);
  });

  it('never puts an address into an email that could be read as several', async () => {
    for (const email of ['a,b@example.org', 'x>@example.org', '"dee"@example.org', 'dee@[127.0.0.1]']) {
      await invite(email);
      await untilState(email, 'failed');
    }
    assert.deepEqual(
      server.named.filter((name) => /[,>"[]/.test(name)),
      [],
    );
    const body = { email: 'dee@example.org\r\nRCPT TO:<eve@example.org>', role: 'member', service: false };
    assertRefused(await admin.post('/members', body), 400, /not an email address/);
  });

  it('retries after a server or connection failure', async () => {
    await invite('dora@example.org', 451, 'drop');
    for (const attempts of [1, 2]) {
      await eventually(
        () =>
          output().includes(`"attempts":${attempts},"reason":"`) &&
          server.named.filter((name) => name === 'dora@example.org').length === attempts,
      );
      service.signal('SIGUSR2');
    }
    await server.mailTo('dora@example.org');
    await untilState('dora@example.org', 'sent');
    assert.match(output(), /the mail server answered 451[ \d.]* to RCPT TO/);
  });

  it('gives up when the server rejects the recipient, and says so in the audit log', async () => {
    const { id } = await invite('fred@example.org', 550);
    await untilState('fred@example.org', 'failed');
    const { events } = assertDone(await admin.get('/audit?limit=10'));
    const failed = events.find(
      ({ action, subject }: any) => action === 'member.mail-failed' && subject === id,
    );
    assert.match(failed.detail.reason, /^the mail server answered 550/);
    assert.equal((await listed('fred@example.org')).state, 'invited', 'the operator can still create a link');
  });

  it('limits the emails to one person', async () => {
    const { id } = await invite('gus@example.org');
    for (let count = 2; count <= 5; count += 1) {
      assertDone(await admin.post(`/members/${id}/invitation`), 201);
    }
    assertRefused(await admin.post(`/members/${id}/invitation`), 429, /5 invitations/);
    assertDone(await admin.call('DELETE', `/members/${id}`));
    const again = { email: 'gus@example.org', role: 'member', service: false };
    assertRefused(await admin.post('/members', again), 429, /5 invitations/);
  });

  it('sends links that the operator creates, and also shows them', async () => {
    const words = ['member', 'add', 'Müller & <Söhne>', 'hans@example.org'];
    const { stdout } = await runCommand(folder, words, environment);
    assert.match(
      stdout,
      /\n\s+https?:\S+\/invitation#inv_\S+\n.*also sends it to hans@example\.org by email/,
    );
    const { link } = await server.mailTo('hans@example.org');
    assert.ok(stdout.includes(link.split('#')[1]!));
    await Visitor.accept(organizationId, `${service.baseUrl}/#${link.split('#')[1]}`);
    const reset = ['member', 'invite', 'Müller & <Söhne>', 'hans@example.org', '--json'];
    assert.deepEqual(Object.keys(JSON.parse((await runCommand(folder, reset, environment)).stdout)), [
      'id',
      'invitation',
    ]);
    const { raw } = await server.mailTo('hans@example.org', 2);
    assert.match(raw, /Subject: =\?UTF-8\?Q\?Set_a_new_password/);
    assert.match(raw, /If you did not expect this email, tell the operator\./);
  });

  const ask = (email: string) => new ConsoleClient(service.baseUrl).post('/password-link', { email });
  const signIn = (password: string) =>
    new ConsoleClient(service.baseUrl).signIn('lena@example.org', password);

  it('sends a link to a person who forgot their password, and gives everyone the same response', async () => {
    const { id } = await invite('lena@example.org');
    const joined = await Visitor.accept(organizationId, (await server.mailTo('lena@example.org')).link);
    await invite('max@example.org');
    await server.mailTo('max@example.org');
    for (const email of ['lena@example.org', 'max@example.org', 'nobody@example.org', 'no address']) {
      const { status, body } = await ask(email);
      assert.deepEqual([status, body], [200, {}], email);
    }
    const mails = () => server.named.filter((name) => name === 'lena@example.org').length;
    const { link, raw } = await server.mailTo('lena@example.org', 2);
    assert.match(raw, /Someone, probably you, asked for a link/);
    assertDone(await ask('lena@example.org'));
    // Requests are answered in order, so hers has been when this one is.
    assertDone(await ask('ada@example.org'));
    await server.mailTo('ada@example.org');
    const client = new ConsoleClient(service.baseUrl);
    const read = await client.post('/invitation/read', { token: link.split('#')[1] });
    assert.deepEqual([assertDone(read).resets, read.body.password], [true, 'choose']);
    assertDone(await client.acceptInvitation(link, 'a quite different harbour'));
    assertRefused(await new ConsoleClient(service.baseUrl).acceptInvitation(link, testPassword), 404);
    assertRefused(await joined.get('/members'), 401);
    assertRefused(await signIn(testPassword), 401);
    assertDone(await signIn('a quite different harbour'));
    assert.equal(mails(), 2, 'a link that can be used is not replaced');
    assert.ok(!server.named.includes('nobody@example.org'));
    assert.equal(server.named.filter((name) => name === 'max@example.org').length, 1, 'has not joined');
    const { events } = assertDone(await admin.get('/audit?limit=20'));
    const actions = events.filter(({ subject }: any) => subject === id).map(({ action }: any) => action);
    assert.ok(actions.includes('password.link-requested') && actions.includes('password.changed'), actions);
  });

  it('invalidates the link when the password is changed', async () => {
    const client = new ConsoleClient(service.baseUrl);
    assertDone(await client.signIn('lena@example.org', 'a quite different harbour'));
    assertDone(await ask('lena@example.org'));
    const { link } = await server.mailTo('lena@example.org', 3);
    const change = { current: 'a quite different harbour', next: testPassword };
    assertDone(await client.post('/password', change));
    assertRefused(await new ConsoleClient(service.baseUrl).acceptInvitation(link, testPassword), 404);
  });

  it('creates one link for concurrent requests, and another if its email was not delivered', async () => {
    const { id } = await invite('nora@example.org');
    await Visitor.accept(organizationId, (await server.mailTo('nora@example.org')).link);
    answers.set('nora@example.org', [550]);
    const requested = async () => {
      const { events } = assertDone(await admin.get('/audit?limit=100'));
      const all = events.filter((event: any) => event.action === 'password.link-requested');
      return all.filter(({ subject }: any) => subject === id).length;
    };
    await Promise.all(Array.from({ length: 12 }, () => ask('nora@example.org')));
    await untilState('nora@example.org', 'failed');
    assert.equal(await requested(), 1);
    await Promise.all(Array.from({ length: 12 }, () => ask('nora@example.org')));
    const { link } = await server.mailTo('nora@example.org', 2);
    assertDone(await ask('nora@example.org'));
    await eventually(() => output().includes('A link that was sent earlier is still valid.'));
    assert.equal(await requested(), 2);
    assertDone(await new ConsoleClient(service.baseUrl).acceptInvitation(link, 'a quite different harbour'));
  });

  it('skein purge --user also removes the counts of emails to the person', async () => {
    await invite('pia@example.org');
    const pia = await Visitor.accept(organizationId, (await server.mailTo('pia@example.org')).link);
    assertDone(await ask('pia@example.org'));
    // A known device has a count of its own.
    const { link } = await server.mailTo('pia@example.org', 2);
    assertDone(await new ConsoleClient(service.baseUrl).acceptInvitation(link, testPassword));
    assertDone(await pia.client.post('/password-link', { email: 'pia@example.org' }));
    await server.mailTo('pia@example.org', 3);
    const purge = async (mode: string) =>
      (await service.skein('purge', organizationId, '--user', 'pia@example.org', mode)).rows.prompt_use;
    assert.equal(await purge('--dry-run'), 3);
    assert.equal(await purge('--yes'), 3);
  });

  it('limits the requests for links from one address', async () => {
    const answers = await Promise.all(Array.from({ length: 101 }, () => ask('nobody@example.org')));
    const refused = answers.find(({ status }) => status === 429);
    assert.match(refused?.headers.get('retry-after') ?? '', /^\d+$/);
    assertRefused(refused!, 429, /^Too many requests\. Try again in \d+ seconds\.$/);
  });

  it('trusts certificates that are named relative to the folder in which the service was started', async (test) => {
    const other = temporaryFolder();
    copyFileSync(environment.NODE_EXTRA_CA_CERTS!, join(other, 'ca.pem'));
    const settings = { ...environment, NODE_EXTRA_CA_CERTS: 'ca.pem' };
    const started = await Service.start({ folder: other, environment: settings });
    test.after(() => started.end());
    await operate(other, ['org', 'create', 'Acme'], settings);
    await operate(other, ['member', 'add', 'Acme', 'quinn@example.org'], settings);
    await server.mailTo('quinn@example.org');
  });

  it('loses no email when the service stops while the server hangs', async () => {
    await invite('ida@example.org', 'hang');
    await attempted('ida@example.org');
    assert.equal(await service.end('SIGTERM'), 0);
    service = await Service.start({ folder, environment });
    await server.mailTo('ida@example.org');
  });

  it('loses no email when the service is killed between the commit and the email', async () => {
    admin = new Visitor(
      await signedInMember(service, organizationId, 'jo@example.org', 'admin'),
      organizationId,
    );
    await invite('kim@example.org', 'hang');
    await attempted('kim@example.org');
    assert.equal(await service.end('SIGKILL'), 'SIGKILL');
    assert.ok(server.received.every(({ to }) => to !== 'kim@example.org'));
    // By then the claim of the killed process has expired.
    service = await Service.start({ folder, environment: { ...environment, ...clockOffBy(3_600_000) } });
    await server.mailTo('kim@example.org');
  });
});

describe('skein mail test', () => {
  let server: MailServer;
  before(async () => {
    server = await MailServer.start({});
  });
  after(() => server.close());

  const test = (environment: Record<string, string>, address = 'ada@example.org') =>
    runSkein(temporaryFolder(), ['mail', 'test', address], environment);

  async function fails(environment: Record<string, string>, reason: RegExp, address?: string): Promise<void> {
    const { exitCode, stdout } = await test(environment, address);
    assert.deepEqual([exitCode, stdout.startsWith('FAIL  ')], [1, true], stdout);
    assert.match(stdout, reason);
    assert.ok(!stdout.includes('p%40ss') && !stdout.includes('p@ss'), stdout);
  }

  it('sends an email over STARTTLS', async () => {
    const { exitCode, stdout } = await test(server.environment());
    assert.deepEqual([exitCode, stdout], [0, 'ok    localhost accepted an email to ada@example.org\n']);
    assert.match((await server.mailTo('ada@example.org')).raw, /Subject: Test email from Skein/);
  });

  it('says why the server cannot be used', async () => {
    const settings = server.environment();
    await fails({ ...settings, NODE_EXTRA_CA_CERTS: '' }, /self-signed certificate/);
    await fails({ ...settings, SKEIN_SMTP_URL: 'smtp://127.0.0.1:1' }, /ECONNREFUSED/);
    const wrong = settings.SKEIN_SMTP_URL!.replace('word', 'key');
    await fails({ ...settings, SKEIN_SMTP_URL: wrong }, /answered 535[ \d.]* to AUTH/);
    const implicit = settings.SKEIN_SMTP_URL!.replace('smtp:', 'smtps:');
    await fails({ ...settings, SKEIN_SMTP_URL: implicit }, /does not start with TLS: use smtp:\/\/ /);
    server.answer = () => 550;
    await fails(settings, /answered 550[ \d.]* to RCPT TO/);
    server.answer = () => 'drop';
    await fails(settings, /[Cc]onnection closed|ECONNRESET/);
    const without = await test({});
    assert.match(without.stderr, /set SKEIN_SMTP_URL and SKEIN_MAIL_FROM/);
  });

  it('sends nothing over an unencrypted connection to another machine', async (context) => {
    const plain = await MailServer.start({ disabledCommands: ['STARTTLS'], authOptional: true });
    context.after(() => plain.close());
    const at = (url: string) => ({ ...plain.environment(), SKEIN_SMTP_URL: url });
    assert.equal((await test(at(`smtp://127.0.0.1:${plain.port}`))).exitCode, 0, 'this machine may');
    // Reaches this machine, but is not one of its loopback addresses.
    const other = `smtp://0.0.0.0:${plain.port}`;
    await fails(at(other), /STARTTLS|TLS/);
    assert.equal((await test(at(`${other}?tls=off`))).exitCode, 0, 'the operator allows it');
  });

  it('is a check of skein doctor', async () => {
    server.answer = () => 'accept';
    const doctor = async (environment: Record<string, string>) => {
      const { stdout } = await runSkein(temporaryFolder(), ['doctor', '--json'], environment);
      return JSON.parse(stdout).findings.find(({ check }: any) => check === 'mail');
    };
    const settings = server.environment();
    assert.deepEqual(await doctor(settings), {
      check: 'mail',
      ok: true,
      detail: 'connected to localhost and signed in',
    });
    const wrongPort = await doctor({ ...settings, SKEIN_SMTP_URL: `smtps://localhost:${server.port}` });
    assert.equal(wrongPort.ok, false);
    assert.match(wrongPort.detail, /^localhost: the port of the mail server does not start with TLS/);
    assert.equal((await doctor({})).ok, true);
  });
});
