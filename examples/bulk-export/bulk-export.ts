import { InvalidParamsError, NotFoundError, Skein, SkeinError, type ThreadPage } from '@skein/client';
import { ExportFile } from './export-file.ts';

const { SKEIN_API_KEY: apiKey, SKEIN_BASE_URL: baseUrl = 'http://127.0.0.1:8080' } = process.env;
const [name, pageSize = '100'] = process.argv.slice(2);
if (!apiKey || name === undefined) {
  console.error('Set SKEIN_API_KEY and name a file: bulk-export.ts FILE [THREADS_PER_PAGE]');
  process.exit(1);
}
if (ExportFile.isComplete(name)) {
  console.error(`${name} is already a complete export: choose another name.`);
  process.exit(1);
}

const skein = new Skein({ baseUrl, apiKey });
/** How many threads are read at the same time. More would only wait for each other. */
const concurrentReads = 4;

try {
  const file = ExportFile.open(name);
  if (file.cursor !== undefined) console.log(`Resuming after ${file.count} threads.`);
  for await (const page of skein.threads.list({ limit: Number(pageSize) }).pages(file.cursor)) {
    file.append(await linesOf(page), page.nextCursor);
    if (page.nextCursor === null && page.truncated) {
      console.error('There are more threads than one walk can reach: export them by accountId.');
      process.exitCode = 1;
    }
  }
  file.finish();
  console.log(`${name}: ${file.count} threads`);
} catch (error) {
  if (!(error instanceof SkeinError)) throw error;
  const hint = error instanceof InvalidParamsError ? ` To start over, remove ${name} and ${name}.state.` : '';
  console.error(`${error.code}: ${error.message}${hint} Trace ID: ${error.traceId ?? 'none'}`);
  process.exitCode = 1;
}

/** The threads of a page with their messages, in the order of the page. */
async function linesOf({ threads }: ThreadPage): Promise<string[]> {
  const lines: string[] = [];
  for (let index = 0; index < threads.length; index += concurrentReads) {
    const some = threads.slice(index, index + concurrentReads);
    const read = await Promise.all(some.map(({ id }) => lineOf(id)));
    lines.push(...read.filter((line) => line !== undefined));
  }
  return lines;
}

async function lineOf(id: string): Promise<string | undefined> {
  try {
    const { thread, messages, status } = await skein.threads.get(id);
    return JSON.stringify({ thread, messages, status });
  } catch (error) {
    // Deleted since it was listed.
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
