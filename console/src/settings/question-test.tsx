import { Alert, Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { type ApiError, inOrganization, request } from '../api/request.ts';
import { announce } from '../app/announcer.tsx';
import { Failure } from '../app/failure.tsx';
import { counted, formatNumber } from '../app/format-count.ts';
import { useOrganization } from '../app/session.tsx';
import classes from './data-table.module.css';

/** Shows which passages a reply to a question would use, without asking the model. */
export function QuestionTest({ accountId }: { accountId: string | undefined }) {
  const { id } = useOrganization();
  const [question, setQuestion] = useState('');
  const test = useMutation<Json<'foundPassages'>, ApiError, string>({
    mutationFn: (asked) =>
      request('POST', inOrganization(id, '/documents/search'), {
        body: { question: asked, ...(accountId !== undefined && { accountId }) },
      }),
    onSuccess: ({ passages }) => announce(`${counted(passages.length, 'passage')} found`),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (question.trim() !== '' && !test.isPending) test.mutate(question.trim());
  };
  const pressed = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  };
  return (
    <Paper withBorder p="md" mb="lg" component="section" aria-labelledby="question-test">
      <Title order={2} size="h4" id="question-test">
        Test a question
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Shows the passages that a reply would use, best first
        {accountId === undefined ? ' (general documents)' : ` (general documents and those of ${accountId})`}.
      </Text>
      <form onSubmit={submit}>
        <Group align="flex-end" gap="sm" wrap="nowrap">
          <Textarea
            aria-label="Question to test"
            placeholder="How long do refunds take?"
            autosize
            minRows={1}
            maxRows={4}
            maxLength={1_000}
            flex={1}
            value={question}
            onChange={(event) => setQuestion(event.currentTarget.value)}
            onKeyDown={pressed}
          />
          <Button type="submit" variant="default" loading={test.isPending} disabled={question.trim() === ''}>
            Test
          </Button>
        </Group>
      </form>
      {test.isError && <Failure error={test.error} title="Couldn’t test the question" />}
      {test.data && <Findings {...test.data} />}
    </Paper>
  );
}

function Findings({ searched, passages }: Json<'foundPassages'>) {
  if (passages.length === 0) {
    return (
      <Alert mt="md" color="gray" title="No passage found">
        A reply would say that it found nothing in {formatNumber(searched)} passages.
      </Alert>
    );
  }
  return (
    <Stack component="ol" gap="xs" mt="md" p={0} style={{ listStyle: 'none' }} aria-label="Passages found">
      {passages.map(({ documentId, title, heading, text }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a passage is identified by its position.
        <Paper component="li" withBorder p="sm" key={place}>
          <Text size="sm" fw={500} mb={4} className={classes.breaksAnywhere}>
            {place + 1}.{' '}
            <Link to="/documents/$documentId" params={{ documentId }}>
              {title}
            </Link>
            {heading !== '' && ` › ${heading}`}
          </Text>
          <Text size="sm" c="dimmed" lineClamp={4} className={classes.breaksAnywhere}>
            {text}
          </Text>
        </Paper>
      ))}
    </Stack>
  );
}
