import { type Logger, pino } from 'pino';
import { iso } from './domain/iso-time.ts';

const apiKeyInText = /eak_[0-9A-Za-z]{8,}/g;

/**
 * JSON lines on standard output, written many at a time, and at the latest after a tenth of a second. Whatever a line
 * holds, an API key never leaves with it.
 */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${iso(Date.now())}"`,
      redact: ['req.headers', 'headers', 'authorization', 'prompt', 'content', 'body'],
      hooks: { streamWrite: (line) => line.replace(apiKeyInText, 'eak_[redacted]') },
    },
    pino.destination({ fd: 1, sync: false, minLength: 8 * 1024, periodicFlush: 100 }),
  );
}
