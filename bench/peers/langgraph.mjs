// The server of `langgraphjs dev`, without its file watcher.
import { startServer } from '@langchain/langgraph-api/server';

await startServer({
  port: Number(process.env.PORT),
  nWorkers: Number(process.env.WORKERS ?? 10),
  host: '127.0.0.1',
  cwd: process.env.DATA,
  graphs: { echo: `${import.meta.dirname}/langgraph-graph.mjs:graph` },
});
