import { setTimeout as pause } from 'node:timers/promises';
import { timerMsMax } from '../../domain/limits.ts';
import { type Model, ModelError, type ReplyEvent, type ReplyRequest } from '../model.ts';

const command = /^#(step|say|corroborate|source|wait|hang|fail|retry|crash)\b ?(.*)$/;

/**
 * A model that does what the prompt says, so that tests can reach every state of a reply. Lines of the prompt with one of
 * these commands are the script. Without any, the model answers in a single step.
 *
 *     #step Reading the contract      #say Thirty days.      #corroborate
 *     #source Refund policy           #wait 500              #hang
 *     #fail                           #retry 3 (fails temporarily before the third attempt)
 *     #crash                          #crash 3 (kills the process before the third attempt)
 */
export const scriptedModel: Model = {
  name: 'scripted',

  async *reply({ conversation, attempt, signal }: ReplyRequest): AsyncGenerator<ReplyEvent> {
    const prompt = conversation.at(-1)?.content ?? '';
    const script = prompt.split('\n').filter((line) => command.test(line));
    if (script.length === 0) {
      yield { type: 'step', description: 'Reading the prompt' };
      yield { type: 'text', text: answerTo(prompt) };
      return;
    }
    for (const line of script) {
      const [, name, words = ''] = command.exec(line) ?? [];
      switch (name) {
        case 'step':
          yield { type: 'step', description: words };
          break;
        case 'say':
          yield { type: 'text', text: words };
          break;
        case 'corroborate':
          yield { type: 'corroborating' };
          break;
        case 'source':
          yield { type: 'sources', sources: [{ id: 'doc_scripted', title: words, url: null, snippet: '' }] };
          break;
        case 'wait':
          await pause(Number(words), undefined, { signal });
          break;
        case 'hang':
          await pause(timerMsMax, undefined, { signal });
          break;
        case 'fail':
          // The reason is logged, so it must not contain the prompt.
          throw new ModelError('The script says so.', { transient: false });
        case 'retry':
          if (attempt < Number(words)) throw new ModelError('The script says so.', { transient: true });
          break;
        case 'crash':
          if (words === '' || attempt < Number(words)) process.kill(process.pid, 'SIGKILL');
          break;
      }
    }
  },
};

function answerTo(prompt: string): string {
  const asked = prompt.trim();
  const excerpt = asked.length > 200 ? `${asked.slice(0, 200).toWellFormed()}…` : asked;
  return `You asked: ${excerpt}\n\nThe scripted model repeats the question; it knows no answers.`;
}
