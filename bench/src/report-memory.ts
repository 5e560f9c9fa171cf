import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

// NODE_OPTIONS loads this file into the measured service, because only the process itself knows its heap and its
// buffers.
const file = process.env.SKEIN_BENCH_MEMORY_FILE;
if (isMainThread && file !== undefined) {
  const report = () => appendFileSync(file, `${process.pid} ${JSON.stringify(process.memoryUsage())}\n`);
  setInterval(report, 1000).unref();
}
