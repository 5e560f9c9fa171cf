const about = 'I answer questions from your organization’s documents, with the sentences I find there.';

const replies: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))(?: there| all| everyone| skein)?[\s!.,]*)+(?:how are you(?: doing| today)?[\s?!.]*)?$/i,
    `Hello! ${about} What would you like to know?`,
  ],
  [
    /^(?:ok(?:ay)?[\s,.!]+)?(?:many )?(?:thanks|thank you|thx|cheers)(?: (?:a lot|so much|very much|again|for your help|for the help))?[\s!.]*$/i,
    'You’re welcome! Ask whenever there is something else to look up.',
  ],
  [/^how are you(?: doing| today)?[\s?!.]*$/i, `All is well here. ${about} What would you like to know?`],
  [
    /^(?:who|what) are you[\s?!.]*$|^what (?:can|do) you do(?: for me)?[\s?!.]*$|^(?:how )?can you help(?: me)?[\s?!.]*$|^help(?: me)?[\s?!.]*$|^what (?:can|could|should|may) i ask(?: you)?(?: about)?[\s?!.]*$|^what do you know(?: about)?[\s?!.]*$/i,
    `${about} When they say nothing about it, I tell you so. Ask about anything they might cover.`,
  ],
  [/^(?:good ?bye|bye|see you|ciao)[\s!.]*$/i, 'Goodbye!'],
];

/** What to say where nothing is asked. */
export function smallTalkReply(prompt: string): string | undefined {
  const said = prompt.slice(0, 100).trim();
  if (prompt.length > 100) return undefined;
  return replies.find(([pattern]) => pattern.test(said))?.[1];
}
