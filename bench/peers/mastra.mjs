import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createDurableAgent } from '@mastra/core/agent/durable';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { cannedModel } from './canned-reply.mjs';

const storage = new LibSQLStore({ id: 'store', url: `file:${process.env.DATA}/peer.db` });
const memory = new Memory({ storage, options: { lastMessages: 10 } });
const agent = (id) => new Agent({ id, name: id, instructions: 'Echo.', model: cannedModel('v2'), memory });
const durable = createDurableAgent({ agent: agent('durable') });

export const mastra = new Mastra({
  agents: { echo: agent('echo'), durable },
  storage,
  server: { port: Number(process.env.PORT), host: '127.0.0.1' },
  ...(process.env.RECOVER && { recovery: { durableAgents: 'auto' } }),
});

// The production build does not recover by itself at its start.
if (process.env.RECOVER) {
  setTimeout(() => mastra.recoverAllDurableAgents().catch((error) => console.error(error)), 1500);
}
