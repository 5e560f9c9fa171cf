import type { Context } from '../context.ts';

/** Keeps what was counted since the last time. Where it cannot be kept, it is counted still, and this rejects. */
export async function flushUsage({ store, usage }: Pick<Context, 'store' | 'usage'>): Promise<void> {
  const reports = usage.take();
  if (reports.length === 0) return;
  try {
    await store.addUsage(reports);
  } catch (error) {
    usage.giveBack(reports);
    throw error;
  }
}
