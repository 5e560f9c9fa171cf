import { AIMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { text, waitAsAsked } from './canned-reply.mjs';

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('reply', async ({ messages }) => {
    await waitAsAsked(messages.at(-1)?.content);
    return { messages: [new AIMessage(text)] };
  })
  .addEdge(START, 'reply')
  .addEdge('reply', END)
  .compile();
