import { type Model, ModelError, type ReplyEvent } from '../../../answers/src/index.ts';
import type { Timers } from '../../../runtime/src/timers.ts';
import type { Random } from './random.ts';

/** The answers of all models so far: a reply must be one of them, whole. */
export class Answers {
  readonly #ofPrompt = new Map<string, Set<string>>();
  #calls = 0;

  /** The parts of a new answer, which is different for every call. */
  begin(prompt: string, parts: number): string[] {
    this.#calls += 1;
    const name = `Answer ${this.#calls} to ${prompt}:`;
    const answer = [name, ...Array.from({ length: parts }, (_, place) => ` part ${place + 1}`), '.'];
    const known = this.#ofPrompt.get(prompt) ?? new Set();
    this.#ofPrompt.set(prompt, known.add(answer.join('')));
    return answer;
  }

  isWhole(prompt: string, text: string): boolean {
    return this.#ofPrompt.get(prompt)?.has(text) ?? false;
  }

  isPart(prompt: string, text: string): boolean {
    return text === '' || [...(this.#ofPrompt.get(prompt) ?? [])].some((answer) => answer.startsWith(text));
  }
}

/** The prompt of a reply that ends the process that writes it, every time. */
export const isPoison = (prompt: string) => prompt.startsWith('poison');

/** A model whose pace, failures and silence depend on the seed. `meetPoison` never resolves, or fails the reply. */
export function simulatedModel(
  answers: Answers,
  timers: Timers,
  random: Random,
  meetPoison: () => Promise<never>,
): Model {
  const pause = (ms: number) => new Promise<void>((resolve) => timers.after(ms, resolve));
  return {
    name: 'simulated',
    async *reply({ conversation, signal }): AsyncGenerator<ReplyEvent> {
      const prompt = conversation.at(-1)?.content ?? '';
      const parts = answers.begin(prompt, random.integer(4));
      const mood = random.fraction();
      // Some answers take longer than a lease.
      const paceMs = random.chance(0.2) ? 3000 : random.fraction() ** 2 * 1000;
      const failsAt = mood < 0.12 ? random.integer(parts.length) : -1;
      // Some models do not notice that they are aborted.
      if (mood > 0.99) await new Promise(() => {});
      yield { type: 'step', description: `Reading ${prompt}` };
      for (const [place, text] of parts.entries()) {
        await pause(paceMs * random.fraction());
        if (mood > 0.5 && signal.aborted) throw signal.reason;
        if (place === failsAt) throw new ModelError('The simulated model failed.', { transient: mood < 0.1 });
        yield { type: 'text', text };
        if (isPoison(prompt)) await meetPoison();
      }
      yield { type: 'corroborating' };
    },
  };
}
