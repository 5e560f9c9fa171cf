/** What every program here answers, after the delay that the prompt names: `[[delay=2000]]`. */
export const text =
  'This is a short canned assistant reply of about one hundred characters, the same for every thread ok.';

export async function waitAsAsked(prompt) {
  const [, delayMs = '0'] = /\[\[delay=(\d+)\]\]/.exec(JSON.stringify(prompt ?? '')) ?? [];
  if (delayMs !== '0') await new Promise((resolve) => setTimeout(resolve, Number(delayMs)));
}

/** A language model for the AI SDK that needs no network. Versions 2 and 3 report usage and the end differently. */
export function cannedModel(specificationVersion) {
  const isNew = specificationVersion === 'v3';
  const usage = isNew
    ? { inputTokens: { total: 10, noCache: 10 }, outputTokens: { total: 20, text: 20 } }
    : { inputTokens: 10, outputTokens: 20, totalTokens: 30 };
  const finishReason = isNew ? { unified: 'stop', raw: 'stop' } : 'stop';
  return {
    specificationVersion,
    provider: 'canned',
    modelId: 'canned',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      await waitAsAsked(prompt);
      return { content: [{ type: 'text', text }], finishReason, usage, warnings: [] };
    },
    async doStream({ prompt }) {
      const stream = new ReadableStream({
        async start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] });
          await waitAsAsked(prompt);
          controller.enqueue({ type: 'text-start', id: '1' });
          controller.enqueue({ type: 'text-delta', id: '1', delta: text });
          controller.enqueue({ type: 'text-end', id: '1' });
          controller.enqueue({ type: 'finish', finishReason, usage });
          controller.close();
        },
      });
      return { stream };
    },
  };
}
