/** Writes a reply in a process of its own, and reports that process to the test that will kill this one. */
import { isolatedModel } from '../src/isolation/isolated-model.ts';

const model = isolatedModel({
  name: 'misbehaving',
  program: new URL('./misbehaving-reply.ts', import.meta.url),
  settings: {},
  store: {} as never,
  traceHeaders: () => ({}),
});
const conversation = [{ role: 'user', content: process.argv[2]! } as const];
const { signal } = new AbortController();
const request = { organizationId: 'org_1' as never, accountId: null, conversation, attempt: 1, signal };
for await (const event of model.reply(request))
  process.send?.(Number((event as { description: string }).description));
