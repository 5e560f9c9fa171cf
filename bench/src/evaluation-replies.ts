/** What was answered, and the names of the documents it cites. */
export interface Reply {
  readonly content: string;
  readonly cited: readonly string[];
}

/** Asks each question in a thread of its own, and waits for its reply. */
export async function askQuestions(
  baseUrl: string,
  key: string,
  questions: readonly { readonly question: string }[],
  names: ReadonlyMap<string, string>,
): Promise<Reply[]> {
  const threads = new URL('/api/v1/threads', baseUrl);
  const authorization = `Bearer ${key}`;
  const replies: Reply[] = [];
  for (const { question } of questions) {
    const { thread } = await json(threads, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: question }),
    });
    const { messages } = await json(new URL(`${threads.pathname}/${thread.id}`, baseUrl), {
      headers: { authorization, prefer: 'wait=20' },
    });
    const { status, content, sources } = messages.at(-1);
    if (status !== 'completed') throw new Error(`The reply to “${question}” is ${status} after 20 s.`);
    replies.push({ content, cited: (sources ?? []).map(({ id }: { id: string }) => names.get(id) ?? id) });
  }
  return replies;
}

async function json(url: URL, request: RequestInit): Promise<any> {
  const answer = await fetch(url, request);
  if (!answer.ok) throw new Error(`${url.pathname} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
