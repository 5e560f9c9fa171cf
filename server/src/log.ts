import { type Logger, pino } from 'pino';
import { iso } from './domain/iso-time.ts';

/** API keys, client secrets and access tokens, also where JSON has put the letter of an escape before them: `\neak_…`. */
const credentialInText = /(ea[ks]_)[0-9A-Za-z]{8,}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g;

/**
 * JSON lines on standard output, written many at a time, and at the latest after a tenth of a second. Whatever a line
 * holds, no credential leaves with it.
 */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${iso(Date.now())}"`,
      redact: ['req.headers', 'headers', 'authorization', 'prompt', 'content', 'body'],
      hooks: { streamWrite: (line) => line.replace(credentialInText, '$1[redacted]') },
    },
    pino.destination({ fd: 1, sync: false, minLength: 8 * 1024, periodicFlush: 100 }),
  );
}
