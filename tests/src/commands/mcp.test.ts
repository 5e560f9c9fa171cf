import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parseBlocks, tableRows } from '../../harness/documents/markdown.ts';
import { Api } from '../../harness/http/api.ts';
import { eventually } from '../../harness/service/eventually.ts';
import {
  cleanEnvironment,
  launcher,
  root,
  type Service,
  temporaryFolder,
} from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';
import { hire } from '../../harness/world/tenants.ts';

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

describe('skein mcp', () => {
  let service: Service;
  let environment: Record<string, string>;
  let api: Api;
  let agent: Client;
  const agents: Client[] = [];
  before(async () => {
    service = await sharedService();
    environment = await createKey('Acme');
    api = new Api(service.baseUrl, environment.SKEIN_API_KEY);
    agent = await connect(environment);
  });
  after(async () => {
    await Promise.all(agents.map((one) => one.close()));
  });

  async function createKey(name: string, ...settings: string[]): Promise<Record<string, string>> {
    const { id } = await service.skein('org', 'create', name, ...settings);
    const { key } = await hire(service, id, 'ada@example.com');
    return { SKEIN_BASE_URL: service.baseUrl, SKEIN_API_KEY: key };
  }

  /** Starts `skein mcp` as an agent does, in a folder without a store. */
  async function connect(
    settings: Record<string, string>,
    command = launcher,
    args = ['mcp'],
  ): Promise<Client> {
    const env = cleanEnvironment(settings) as Record<string, string>;
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StdioClientTransport({ command, args, env, cwd: temporaryFolder() }));
    agents.push(client);
    return client;
  }

  async function call(client: Client, name: string, input: Record<string, unknown>) {
    const { content, isError = false } = await client.callTool({ name, arguments: input });
    const [block] = content as { type: string; text: string }[];
    assert.equal(block?.type, 'text');
    return { text: block.text, isError };
  }

  async function callFailing(client: Client, name: string, input: Record<string, unknown>): Promise<string> {
    const { text, isError } = await call(client, name, input);
    assert.equal(isError, true, text);
    return text;
  }

  it('offers three tools, each with a description of its input', async () => {
    const { tools } = await agent.listTools();
    assert.deepEqual(
      tools.map(({ name, inputSchema }) => [
        name,
        Object.keys(inputSchema.properties ?? {}),
        inputSchema.required,
      ]),
      [
        ['ask', ['prompt', 'accountId', 'title'], ['prompt']],
        ['get_thread', ['threadId'], ['threadId']],
        ['list_threads', ['accountId', 'limit', 'cursor'], undefined],
      ],
    );
    assert.ok(tools.every(({ description }) => description));
    assert.match(agent.getInstructions() ?? '', /sources/);
  });

  it('ask answers with the reply, its sources and the thread', async () => {
    const prompt = '#source Refunds\n#say Thirty days [1].';
    const { text, isError } = await call(agent, 'ask', { prompt, accountId: 'acct_1', title: 'Refunds' });
    assert.equal(isError, false, text);
    const [, id] = /^Thirty days \[1\]\.\n\n\[1\] Refunds\n\n(thr_\w+) {2}http:\S+$/.exec(text) ?? [];
    assert.ok(id, text);
    const { thread } = (await api.get(id)).body;
    assert.deepEqual([thread.accountId, thread.title], ['acct_1', 'Refunds']);
  });

  it('get_thread waits for a running reply and returns what the API returns', async () => {
    const { thread } = (await api.create({ prompt: '#wait 300\n#say Done.' })).body;
    const { text } = await call(agent, 'get_thread', { threadId: thread.id });
    assert.deepEqual(JSON.parse(text), (await api.get(thread.id)).body);
    assert.equal(JSON.parse(text).messages[1].content, 'Done.');
  });

  it('list_threads walks the pages', async () => {
    const theirs = await createKey('Pages');
    const mine = new Api(service.baseUrl, theirs.SKEIN_API_KEY);
    for (const prompt of ['One', 'Two', 'Three']) await mine.create({ prompt });
    const client = await connect(theirs);
    const first = JSON.parse((await call(client, 'list_threads', { limit: 2 })).text);
    const second = JSON.parse(
      (await call(client, 'list_threads', { limit: 2, cursor: first.nextCursor })).text,
    );
    const titles = [...first.threads, ...second.threads].map(({ title }: { title: string }) => title);
    assert.deepEqual(titles, ['Three', 'Two', 'One']);
    assert.equal(second.nextCursor, null);
  });

  it('explains invalid input, an unknown thread and a failed reply', async () => {
    assert.match(await callFailing(agent, 'ask', {}), /prompt/);
    assert.match(await callFailing(agent, 'ask', { prompt: '' }), /prompt/);
    assert.match(await callFailing(agent, 'list_threads', { limit: 1000 }), /limit/);
    assert.match(await callFailing(agent, 'list_threads', { cursor: 'nonsense' }), /cursor/);
    const missing = await callFailing(agent, 'get_thread', { threadId: 'thr_nonsense' });
    assert.match(missing, /trace ID .*Use list_threads to see the threads/);
    assert.match(await callFailing(agent, 'get_thread', { threadId: '../keys' }), /trace ID/);
    assert.match(await callFailing(agent, 'ask', { prompt: '#fail' }), /The reply in thr_\w+ failed/);
    assert.equal((await call(agent, 'ask', { prompt: '#say Still here.' })).isError, false);
  });

  it('explains a missing and a rejected key, a used-up quota and a service that cannot be reached', async () => {
    const without = await connect({ SKEIN_BASE_URL: service.baseUrl });
    assert.match(
      await callFailing(without, 'ask', { prompt: 'Hello' }),
      /SKEIN_API_KEY must be set: .*skein key create/,
    );
    const rejected = await connect({ ...environment, SKEIN_API_KEY: 'eak_nonsense' });
    assert.match(await callFailing(rejected, 'list_threads', {}), /Check SKEIN_API_KEY/);
    const metered = await connect(await createKey('Metered', '--quota', '0'));
    assert.match(await callFailing(metered, 'ask', { prompt: 'Hello' }), /Try again in \d+ s\./);
    const nowhere = await connect({ ...environment, SKEIN_BASE_URL: 'http://127.0.0.1:9' });
    assert.match(await callFailing(nowhere, 'list_threads', {}), /SKEIN_BASE_URL/);
  });

  it('starts with the configurations in the guide', async () => {
    const guide = readFileSync(join(root, 'docs/agents.md'), 'utf8');
    const samples = parseBlocks(guide).map(({ text }) => JSON.parse(text));
    assert.equal(samples.length, 2);
    for (const { mcpServers, servers } of samples) {
      const { command, args, env } = (mcpServers ?? servers).skein;
      assert.deepEqual(Object.keys(env), Object.keys(environment));
      const client = await connect(environment, command.replace('/path/to/skein', root), args);
      assert.equal((await call(client, 'ask', { prompt: '#say Hello.' })).isError, false);
    }
    const shown = tableRows(guide).map(([name]) => name);
    assert.deepEqual(
      shown,
      (await agent.listTools()).tools.map(({ name }) => name),
    );
  });

  it('writes nothing but the protocol to standard output, and ends with its input', async () => {
    const child = spawn(launcher, ['mcp'], { env: cleanEnvironment(environment), cwd: temporaryFolder() });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      stdout += chunk;
    });
    child.stdin.write(`${JSON.stringify(initialize)}\nnot JSON\n`);
    const request = { name: 'ask', arguments: { prompt: '#hang' } };
    await once(child.stdout, 'data');
    child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: request })}\n`);
    const [exitCode] = await once(child, 'close');
    assert.equal(exitCode, 0);
    assert.ok(stdout.includes('"id":1'));
    for (const line of stdout.trimEnd().split('\n').filter(Boolean))
      assert.equal(JSON.parse(line).jsonrpc, '2.0');
  });

  it('says why it ends if the agent sends a line that is too long', async () => {
    const child = spawn(launcher, ['mcp'], { env: cleanEnvironment(environment), cwd: temporaryFolder() });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdin.on('error', () => {}).write('x'.repeat(11_000_000));
    const [exitCode] = await once(child, 'close');
    assert.equal(exitCode, 1);
    assert.match(stderr, /^skein mcp: .*maximum size of 10485760 bytes\n$/);
  });

  it('reports lines that are not JSON-RPC messages in a sentence each, and goes on', async () => {
    const child = spawn(launcher, ['mcp'], { env: cleanEnvironment(environment), cwd: temporaryFolder() });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdin.write('[]\n{"jsonrpc":"1.0","id":2,"method":"ping"}\n');
    child.stdin.write(`${JSON.stringify(initialize)}\n`);
    await eventually(() => stdout.includes('"id":1'));
    child.stdin.end();
    await once(child, 'close');
    const sentence = 'skein mcp: the agent sent a line that is not a JSON-RPC message\n';
    assert.equal(stderr, sentence.repeat(2));
  });
});
