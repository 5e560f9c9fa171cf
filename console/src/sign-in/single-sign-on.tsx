import { Button, Divider } from '@mantine/core';
import { IconLogin2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { signInOfferOptions } from '../api/queries.ts';
import { query } from '../api/request.ts';

/** Renders nothing without a provider. `alternative` introduces the form below it. */
export function SingleSignOn({ returnTo, alternative }: { returnTo: string; alternative?: string }) {
  const { data } = useQuery(signInOfferOptions);
  if (!data?.sso) return null;
  return (
    <>
      <Button
        component="a"
        href={`/console/sso/start${query({ returnTo })}`}
        variant="default"
        leftSection={<IconLogin2 size={18} aria-hidden />}
      >
        Continue with {data.sso.name}
      </Button>
      {alternative !== undefined && <Divider label={alternative} />}
    </>
  );
}
