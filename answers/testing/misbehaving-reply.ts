/** A process of `isolatedModel` for tests. Its prompt decides how it misbehaves. */
import { serveReply } from '../src/isolation/serve-reply.ts';
import { ModelError } from '../src/port/model.ts';

serveReply<{ greeting: string }>(async ({ greeting }, store, traceHeaders) => ({
  name: 'misbehaving',
  async *reply({ conversation, organizationId }) {
    const prompt = conversation[0]?.content;
    yield { type: 'step', description: String(process.pid) };
    if (prompt === 'kill') process.kill(process.pid, 'SIGKILL');
    if (prompt === 'abort') process.abort();
    if (prompt === 'exit') process.exit();
    if (prompt === 'throw later') setTimeout(() => JSON.parse('{'), 0);
    if (prompt === 'fill the heap') for (const kept: object[] = []; ; ) kept.push(Array(100_000).fill(0.5));
    // Buffers are outside the heap.
    if (prompt === 'fill the memory') {
      for (const kept: Buffer[] = []; ; ) {
        kept.push(Buffer.alloc(32 * 2 ** 20, 1));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    if (prompt === 'loop') for (;;);
    if (prompt === 'hang' || prompt === 'throw later') await new Promise(() => {});
    if (prompt === 'fail') throw new ModelError('No.', { transient: true, retryAfterMs: 7 });
    if (prompt === 'fail for good') throw new TypeError('undefined is not a function');
    const [outline] = await store.outlineDocuments(organizationId, null, 1);
    const secrets = Object.keys(process.env).filter((name) => name.startsWith('SKEIN_'));
    yield { type: 'text', text: JSON.stringify({ greeting, outline, secrets, headers: traceHeaders() }) };
  },
}));
