import { setTimeout as pause } from 'node:timers/promises';
import { cutText } from '../../../runtime/src/pure/text.ts';
import { type Model, ModelError, type ReplyEvent, type ReplyRequest } from '../port/model.ts';

const command = /^#(step|say|corroborate|source|wait|hang|fail|retry|crash)\b ?(.*)$/gm;

/** Timers hold at most this many milliseconds. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * A model that does what the prompt says, so that tests can reach every state of a reply. Lines of the prompt with one of
 * these commands are the script. Without any, the model answers in a single step.
 *
 *     #step Reading the contract      #say Thirty days.      #corroborate
 *     #source Refund policy           #wait 500              #hang
 *     #fail                           #retry 3 (fails temporarily before the third attempt)
 *     #crash                          #crash 3 (kills its process before the third attempt)
 */
export const scriptedModel: Model = {
  name: 'scripted',

  async *reply({ conversation, attempt, signal }: ReplyRequest): AsyncGenerator<ReplyEvent> {
    const prompt = conversation.at(-1)?.content ?? '';
    const script = [...prompt.matchAll(command)];
    if (script.length === 0) {
      yield { type: 'step', description: 'Reading the prompt' };
      const answer = 'The scripted model repeats the question; it knows no answers.';
      yield { type: 'text', text: `You asked: ${cutText(prompt.trim(), 200)}\n\n${answer}` };
      return;
    }
    for (const [, name, words = ''] of script) {
      const isEarly = words === '' || attempt < Number(words);
      if (name === 'wait') await pause(Number(words), undefined, { signal });
      if (name === 'hang') await pause(longestTimerMs, undefined, { signal });
      // The reason is logged, so it must not contain the prompt.
      if (name === 'fail') throw new ModelError('The script says so.', { transient: false });
      if (name === 'retry' && isEarly) throw new ModelError('The script says so.', { transient: true });
      if (name === 'crash' && isEarly) process.kill(process.pid, 'SIGKILL');
      if (name === 'step') yield { type: 'step', description: words };
      if (name === 'say') yield { type: 'text', text: words };
      if (name === 'corroborate') yield { type: 'corroborating' };
      const source = { id: 'doc_scripted', title: words, url: null, snippet: '' };
      if (name === 'source') yield { type: 'sources', sources: [source] };
    }
  },
};
