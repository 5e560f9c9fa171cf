import { Alert, Blockquote, Button, Skeleton, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconPlayerPlay } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { Json } from '../api/contract.ts';
import { modelOptions } from '../api/queries.ts';
import { type ApiError, inOrganization, request } from '../api/request.ts';
import { announce } from '../app/announcer.tsx';
import { Failure } from '../app/failure.tsx';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { formatLatency } from './request-labels.ts';
import { Section } from './section.tsx';

export function ModelPage() {
  const { id } = useOrganization();
  const { data, error, refetch } = useQuery(modelOptions(id));
  return (
    <Page
      title="Model"
      description="The model that writes the replies. The operator of the service configures it."
    >
      {error !== null && (
        <Failure error={error} title="Couldn’t load the model settings" onRetry={() => refetch()} />
      )}
      {error === null && data === undefined && <Skeleton height={220} aria-busy="true" />}
      {data !== undefined && (
        <Stack gap="lg">
          <Configuration {...data} />
          {data.provider !== null && <ModelTest />}
        </Stack>
      )}
    </Page>
  );
}

function Configuration({ name, provider }: Json<'model'>) {
  return (
    <Section title="Configuration">
      <Text size="sm">Provider: {provider ?? 'none'}</Text>
      <Text size="sm">Model: {provider === null ? name : name.slice(provider.length + 1)}</Text>
      {provider === null && (
        <Text size="sm" mt="xs">
          This model runs inside the service and quotes your documents, so there is no provider to test. To
          have a language model write the replies instead, see{' '}
          <a href="/docs/language-models/" target="_blank" rel="noreferrer">
            how the operator sets one up
          </a>
          .
        </Text>
      )}
    </Section>
  );
}

function ModelTest() {
  const { id } = useOrganization();
  const test = useMutation<Json<'modelTest'>, ApiError>({
    mutationFn: () => request<Json<'modelTest'>>('POST', inOrganization(id, '/model/test')),
    onSuccess: ({ result }) => announce(result?.ok ? 'The model answered' : 'The test failed'),
  });
  return (
    <Section title="Test">
      <Text size="sm" mb="md">
        Asks the provider one short question. Each test counts as one of your prompts.
      </Text>
      <Stack gap="md" align="flex-start">
        <Button
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          loading={test.isPending}
          onClick={() => test.mutate()}
        >
          Test the model
        </Button>
        {test.isError && <Failure error={test.error} title="Couldn’t test the model" />}
        {test.data?.result != null && <Result result={test.data.result} />}
      </Stack>
    </Section>
  );
}

function Result({ result }: { result: NonNullable<Json<'modelTest'>['result']> }) {
  if (!result.ok) {
    return (
      <Alert color="red" variant="light" title="The test failed" icon={<IconAlertTriangle aria-hidden />}>
        <Text size="sm">
          {result.error} It took {formatLatency(result.ms)}.
        </Text>
        <Text size="sm" mt={4}>
          Next step: {result.nextStep}
        </Text>
      </Alert>
    );
  }
  return (
    <Alert color="green" variant="light" title="The model answered" icon={<IconCircleCheck aria-hidden />}>
      <Text size="sm">
        First text after {formatLatency(result.firstTextMs)}, complete after {formatLatency(result.ms)}.
      </Text>
      <Blockquote p="xs" mt="xs" style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm">{result.answer}</Text>
      </Blockquote>
    </Alert>
  );
}
