import { Stack, UnstyledButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconArrowUpRight } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { examplesOptions, firstStepsOptions, keys } from '../api/queries.ts';
import { inOrganization, request } from '../api/request.ts';
import { Failure } from '../app/failure.tsx';
import { readStored, writeStored } from '../app/local-storage.ts';
import { Page } from '../app/page.tsx';
import { useOrganization, useSession } from '../app/session.tsx';
import { Composer } from '../thread/composer.tsx';
import { buildDraftName, useDraft } from '../thread/draft.ts';
import { AccountField } from './account-field.tsx';
import classes from './first-minutes.module.css';
import { FirstSteps, isComplete } from './first-steps.tsx';

export function NewThreadPage() {
  const { user } = useSession();
  const organization = useOrganization();
  const draftName = buildDraftName(user.id, organization.id, 'new');
  usePreloadedThreadPage();
  return (
    <Page title="New thread" description="Replies are based on your organization’s documents and cite them.">
      <NewThread key={draftName} organizationId={organization.id} draftName={draftName} />
    </Page>
  );
}

/** Loads the code of the thread page and its Markdown renderer while the person types, so that the prompt appears at once. */
function usePreloadedThreadPage(): void {
  const router = useRouter();
  useEffect(() => {
    void router.loadRouteChunk(router.routesByPath['/threads/$threadId'])?.catch(() => undefined);
  }, [router]);
}

function NewThread({ organizationId, draftName }: { organizationId: string; draftName: string }) {
  const [account, setAccount, forgetAccount] = useDraft(`${draftName}.account`);
  const creating = useCreateThread(organizationId);
  const send = async (prompt: string) => {
    await creating.mutateAsync({ prompt, ...(account !== '' && { accountId: account }) });
    forgetAccount();
  };
  return (
    <Stack>
      <Composer
        draftName={draftName}
        label="Your question"
        placeholder="What do you want to know?"
        sendLabel="Ask"
        sending={creating.isPending}
        autoFocus
        onSend={send}
      />
      {creating.isError && <Failure error={creating.error} title="Couldn’t create the thread" />}
      <AccountField
        label="Account (optional)"
        description="Replies will also use this account’s documents."
        placeholder="For example, acme-eu"
        account={account}
        onAccount={setAccount}
      />
      <FirstMinutes
        organizationId={organizationId}
        account={account}
        disabled={creating.isPending}
        onAsk={(question) => void send(question).catch(() => undefined)}
      />
    </Stack>
  );
}

interface FirstMinutesProps {
  readonly organizationId: string;
  readonly account: string;
  readonly disabled: boolean;
  readonly onAsk: (question: string) => void;
}

/** Shown only when complete, so that nothing moves. The page also works without it. */
function FirstMinutes({ organizationId, account, disabled, onAsk }: FirstMinutesProps) {
  const [typedAccount] = useDebouncedValue(account.trim(), 300);
  const { user } = useSession();
  const isAdmin = useOrganization().role === 'admin';
  const dismissedName = `first-steps.${user.id}.${organizationId}`;
  const [isDismissed, setDismissed] = useState(() => readStored(dismissedName) !== null);
  const examples = useQuery({
    ...examplesOptions(organizationId, typedAccount),
    placeholderData: keepPreviousData,
  });
  const steps = useQuery({ ...firstStepsOptions(organizationId), enabled: isAdmin && !isDismissed });
  const isDone = steps.data !== undefined && isComplete(steps.data);
  useEffect(() => {
    if (isDone) writeStored(dismissedName, 'done');
  }, [isDone, dismissedName]);
  if (examples.isPending || steps.isLoading) return null;
  const questions = examples.data?.questions ?? [];
  const dismiss = () => {
    writeStored(dismissedName, 'dismissed');
    setDismissed(true);
  };
  return (
    <Stack gap="lg" mt="xs">
      {questions.length > 0 && <ExampleQuestions questions={questions} disabled={disabled} onAsk={onAsk} />}
      {steps.data !== undefined && !isDone && !isDismissed && (
        <FirstSteps steps={steps.data} onDismiss={dismiss} />
      )}
    </Stack>
  );
}

interface ExampleQuestionsProps {
  readonly questions: readonly string[];
  readonly disabled: boolean;
  readonly onAsk: (question: string) => void;
}

/** Questions that the documents answer. A click asks one. */
function ExampleQuestions({ questions, disabled, onAsk }: ExampleQuestionsProps) {
  return (
    <section aria-labelledby="examples">
      <h2 id="examples" className={classes.heading}>
        Try a question
      </h2>
      <ul className={classes.examples}>
        {questions.map((question) => (
          <li key={question}>
            <UnstyledButton className={classes.example} disabled={disabled} onClick={() => onAsk(question)}>
              <span>{question}</span>
              <IconArrowUpRight size={16} aria-hidden />
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A retry after a lost response uses the first key, so that it does not create a second thread. */
function useCreateThread(organizationId: string) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const attempt = useRef({ body: '', key: '' });
  return useMutation({
    mutationFn: (body: Json<'newThreadBody'>) => {
      const text = JSON.stringify(body);
      if (attempt.current.body !== text) attempt.current = { body: text, key: randomKey() };
      return request<Json<'threadView'>>('POST', inOrganization(organizationId, '/threads'), {
        body,
        headers: { 'idempotency-key': attempt.current.key },
      });
    },
    onSuccess: (view) => {
      queryClient.setQueryData(keys.thread(organizationId, view.thread.id), view);
      void queryClient.invalidateQueries({ queryKey: keys.threads(organizationId) });
      void navigate({ to: '/threads/$threadId', params: { threadId: view.thread.id } });
    },
  });
}

/** `randomUUID` exists only over TLS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
