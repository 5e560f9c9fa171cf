import { createInterface } from 'node:readline';
import { Skein, SkeinError } from '@skein/client';
import { answer, history } from './bot.ts';

const { SKEIN_API_KEY: apiKey, SKEIN_BASE_URL: baseUrl = 'http://127.0.0.1:8080' } = process.env;
if (!apiKey) {
  console.error("Set SKEIN_API_KEY to a personal key: the one that 'npm start' prints will do.");
  process.exit(1);
}

const skein = new Skein({ baseUrl, apiKey });
const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort());

// A line is a customer and their question, or a customer alone: `acct_42 How long do refunds take?`
try {
  for await (const line of createInterface({ input: process.stdin, signal: stopping.signal })) {
    const [, customer, question] = /^(\S+)\s*(.*)$/.exec(line.trim()) ?? [];
    if (customer === undefined) continue;
    const text = question
      ? await answer(skein, customer, question, stopping.signal)
      : await history(skein, customer, stopping.signal);
    console.log(`${customer}: ${text}`);
  }
} catch (error) {
  if (!stopping.signal.aborted) {
    if (!(error instanceof SkeinError)) throw error;
    console.error(`${error.code}: ${error.message} Trace ID: ${error.traceId ?? 'none'}`);
    process.exitCode = 1;
  }
}
