import { X509Certificate } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { formatBytes } from '../../../runtime/src/pure/text.ts';
import type { Config } from '../config/config.ts';
import { explainFault } from '../domain/store-fault.ts';
import type { Retention } from '../usecases/organization/retention.ts';
import type { Diagnosis } from '../usecases/store-health.ts';
import type { BareCommand } from './command.ts';
import { listing } from './output.ts';

const doctor: BareCommand = {
  name: 'doctor',
  summary: 'Check the configuration, the disk and the store',
  examples: ['doctor', 'doctor --json'],
  async runAlone(_args, config) {
    const { store } = config;
    const findings: Diagnosis[] = [
      await finding('node', () => `Node.js ${process.versions.node}`),
      ...(store.engine === 'sqlite'
        ? [
            await finding('disk', () => checkDisk(store.file)),
            await finding('sync', () => checkSync(store.file)),
          ]
        : []),
      await finding('tls', () => checkTls(config)),
      await finding('base url', () => checkBaseUrl(config)),
      await finding('mail', () => checkMail(config)),
      ...(await checkStore(config)),
    ];
    const healthy = findings.every(({ ok }) => ok);
    const rows = findings.map(({ check, ok, detail }) => {
      return { RESULT: ok ? 'ok  ' : 'FAIL', CHECK: check, DETAIL: detail };
    });
    return { ...listing({ healthy, findings }, rows, ''), exitCode: healthy ? 0 : 1 };
  },
};

export const commands = [doctor];

/** `look` returns the detail of a check that passed, and throws if it failed. */
async function finding(check: string, look: () => string | Promise<string>): Promise<Diagnosis> {
  try {
    return { check, ok: true, detail: await look() };
  } catch (error) {
    return failure(check, error as NodeJS.ErrnoException);
  }
}

async function checkMail({ mail }: Config): Promise<string> {
  if (mail === undefined)
    return 'off: admins pass on invitation links themselves; set SKEIN_SMTP_URL and SKEIN_MAIL_FROM to email them';
  const { createMailer } = await import('../compose.ts');
  await createMailer(mail)
    .check()
    .catch((error: Error) => {
      throw new Error(`${mail.host}: ${error.message}`);
    });
  return `connected to ${mail.host}${mail.auth === undefined ? '' : ' and signed in'}`;
}

async function checkStore(config: Config): Promise<Diagnosis[]> {
  try {
    const { openSkein } = await import('../compose.ts');
    const skein = await openSkein(config, { mustExist: true });
    try {
      const found = await skein.health.diagnose();
      return [...found, await finding('retention', () => checkRetention(skein.useCases.retention))];
    } finally {
      await skein.close();
    }
  } catch (error) {
    return [failure('store', error as NodeJS.ErrnoException)];
  }
}

function failure(check: string, error: NodeJS.ErrnoException): Diagnosis {
  return { check, ok: false, detail: explainFault(error) };
}

const freeBytesMin = 256 * 1024 * 1024;

function checkDisk(storeFile: string): string {
  const { bavail, bsize } = statfsSync(dirname(storeFile));
  const free = bavail * bsize;
  const amount = `${formatBytes(free)} free next to ${storeFile}`;
  if (free < freeBytesMin) throw new Error(`${amount}: free up space before writes fail`);
  return amount;
}

/** The time that every durable commit waits. Above 50 ms the service works, but every write is slow. */
function checkSync(storeFile: string): string {
  const file = join(dirname(storeFile), `.skein-doctor-${process.pid}`);
  const rounds = 20;
  const descriptor = openSync(file, 'w');
  try {
    const startedAt = performance.now();
    for (let round = 0; round < rounds; round += 1) {
      writeSync(descriptor, Buffer.alloc(4096));
      fdatasyncSync(descriptor);
    }
    const ms = (performance.now() - startedAt) / rounds;
    return `${ms.toFixed(2)} ms to sync a write${ms > 50 ? ', which is slow' : ''}`;
  } finally {
    closeSync(descriptor);
    rmSync(file, { force: true });
  }
}

/** `readConfig` has rejected a certificate that cannot be read. */
function checkTls({ tls }: Config): string {
  if (tls === undefined) return 'off: put a TLS proxy in front, or set SKEIN_TLS_CERT and SKEIN_TLS_KEY';
  const { validTo } = new X509Certificate(tls.cert);
  if (Date.parse(validTo) <= Date.now()) throw new Error(`the certificate expired on ${validTo}: renew it`);
  return `the certificate is valid until ${validTo}`;
}

function checkBaseUrl({ baseUrl, tls }: Config): string {
  return (
    baseUrl ?? `the listening address${tls ? ' (https)' : ''}: set SKEIN_BASE_URL if callers use another URL`
  );
}

/** The retention settings and how much is due. A running service removes it within minutes. */
async function checkRetention(retention: Retention): Promise<string> {
  const rules = await retention.survey();
  const descriptions = rules.map(({ kind, days, due }) => {
    const name = kind.replaceAll('_', ' ');
    if (days === undefined) return `${name} kept forever`;
    return `${name} ${days === 0 ? 'once expired' : `after ${days} d`} (${due} due)`;
  });
  return descriptions.join(', ');
}
