import type { DocumentId } from '../../domain/id.ts';
import type { Library } from '../../domain/library.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { Context } from '../context.ts';
import { limitPrompts } from '../replies/limit-prompts.ts';

const passagesMax = 5;

interface TestedPassage {
  readonly documentId: DocumentId;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly score: number;
}

/** The passages that a reply to the question would use. A test counts as a prompt of the console. */
export async function testQuestion(
  context: Context,
  principal: UserPrincipal,
  search: Library['search'],
  { question, accountId = null }: { question: string; accountId?: string | null },
): Promise<{ searched: number; passages: TestedPassage[] }> {
  await limitPrompts(context, principal);
  const found = await search(principal.organizationId, accountId, question, passagesMax);
  return {
    searched: found.searched,
    passages: found.passages.map(({ documentId, title, heading, text }, place) => {
      return { documentId, title, heading, text, score: found.scores?.[place] ?? 0 };
    }),
  };
}
