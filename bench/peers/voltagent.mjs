import { Agent, Memory, VoltAgent } from '@voltagent/core';
import { LibSQLMemoryAdapter } from '@voltagent/libsql';
import { honoServer } from '@voltagent/server-hono';
import { cannedModel } from './canned-reply.mjs';

const memory = new Memory({ storage: new LibSQLMemoryAdapter({ url: `file:${process.env.DATA}/peer.db` }) });
const echo = new Agent({ name: 'echo', instructions: 'Echo.', model: cannedModel('v3'), memory });
new VoltAgent({
  agents: { echo },
  server: honoServer({ port: Number(process.env.PORT), hostname: '127.0.0.1' }),
});
