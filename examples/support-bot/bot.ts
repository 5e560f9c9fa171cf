import { RateLimitedError, ReplyFailedError, type Skein } from '@skein/client';

/** The bot's answer to a customer. The reply uses the documents of their account and the general ones. */
export async function answer(
  skein: Skein,
  customer: string,
  question: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    const { text, sources } = await skein.threads.ask(question, { accountId: customer, signal });
    return [text, ...sources.map(({ title }, index) => `  [${index + 1}] ${title}`)].join('\n');
  } catch (error) {
    // Everything else is for the bot's operator, not for the customer.
    if (error instanceof ReplyFailedError) {
      return `I could not answer that. A colleague will look into ${error.thread.id}.`;
    }
    if (error instanceof RateLimitedError) return 'I cannot take more questions today. Please write to us.';
    throw error;
  }
}

/** What a customer has asked so far, newest first. */
export async function history(skein: Skein, customer: string, signal: AbortSignal): Promise<string> {
  const lines: string[] = [];
  for await (const { title } of skein.threads.list({ accountId: customer, signal })) lines.push(`  ${title}`);
  return lines.length === 0 ? 'Nothing yet.' : ['You have asked:', ...lines].join('\n');
}
