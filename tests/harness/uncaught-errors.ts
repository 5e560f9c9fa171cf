/**
 * Loaded before each test file. node:test observes every promise with an async hook, only to say which test an uncaught
 * error belongs to. That doubles the processor time of tests with many promises: 13.3 s instead of 6.0 s for
 * `mutations.test.ts`. Here the hook does not observe promises, and an uncaught error ends the process with its stack trace,
 * so that the file fails. To see which test caused it, run the file alone: `npx node --test FILE`.
 */
import hooks from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const { createHook } = hooks;
  hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}

function fail(error: unknown): void {
  console.error('uncaught error in a test:', error);
  process.exit(1);
}
