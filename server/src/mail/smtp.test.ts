import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { createSmtpMailer } from './smtp.ts';

const from = { name: 'Skein', address: 'skein@example.org' };

/** A mailer for a server that does this with each connection. */
async function mailerFor(test: TestContext, answer: (socket: Socket) => void) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    server,
    mailer: createSmtpMailer({ from, host: '127.0.0.1', port, tls: 'offered', auth: undefined }),
  };
}

describe('A mail server that sends no greeting, as on a port that starts with TLS', () => {
  const advice =
    /^the mail server sent no greeting: .* use smtps:\/\/ instead of smtp:\/\/ in SKEIN_SMTP_URL$/;

  it('is named as the reason if it waits', async (test) => {
    const { server, mailer } = await mailerFor(test, () => {});
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const checked = assert.rejects(mailer.check(), { message: advice });
    await once(server, 'connection');
    await new Promise((resolve) => setImmediate(resolve));
    test.mock.timers.tick(20_000);
    await checked;
  });

  it('is named as the reason if it closes the connection', async (test) => {
    const { mailer } = await mailerFor(test, (socket) => socket.end());
    await assert.rejects(mailer.check(), { message: advice });
  });

  it('is not blamed for a connection that it refuses', async (test) => {
    const { server, mailer } = await mailerFor(test, () => {});
    server.close();
    await assert.rejects(mailer.check(), { message: /ECONNREFUSED/ });
  });
});

describe('A mail server that never stops sending', () => {
  it('is disconnected, also if it sends blank lines', async (test) => {
    const blankLines = Buffer.alloc(65_536, '\n');
    const { mailer } = await mailerFor(test, (socket) => {
      const fill = () => {
        while (socket.write(blankLines));
      };
      socket.on('error', () => {}).on('drain', fill);
      fill();
    });
    await assert.rejects(mailer.check(), { message: 'the mail server sent more than 65536 bytes' });
  });
});

describe('A mail server behind smtp://', () => {
  it('is reported by the status of its answer, whatever the text says', async (test) => {
    const { mailer } = await mailerFor(test, (socket) => socket.end('550 wrong version number\r\n'));
    await assert.rejects(mailer.check(), { message: 'the mail server answered 550 to CONN' });
  });

  it('leads to no advice about the scheme if it fails to start TLS', async (test) => {
    const answers = ['250-here\r\n250 STARTTLS\r\n', '220 go on\r\n', '220 no TLS\r\n'];
    const { mailer } = await mailerFor(test, (socket) => {
      socket.on('error', () => {}).on('data', () => socket.write(answers.shift() ?? ''));
      socket.write('220 here\r\n');
    });
    await assert.rejects(mailer.check(), ({ message }: Error) => !message.includes('smtps://'));
    assert.deepEqual(answers, []);
  });
});
