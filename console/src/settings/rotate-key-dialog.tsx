import { Modal, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { KeyJson, NewKeyJson, RotateKeyBody } from '../api/contract.ts';
import { Failure } from '../app/failure.tsx';
import { FormActions } from './form-actions.tsx';
import { MadeKey } from './new-key-dialog.tsx';
import { useChange } from './use-change.ts';

type Grace = RotateKeyBody['oldValidFor'];

const graces: readonly { value: Grace; label: string }[] = [
  { value: 'now', label: 'Now' },
  { value: '1h', label: 'In 1 hour' },
  { value: '24h', label: 'In 24 hours' },
  { value: '7d', label: 'In 7 days' },
];

/** Its contents are new for each key: one that was shown is gone with the dialog. */
export function RotateKeyDialog({ rotated, onClose }: { rotated: KeyJson | null; onClose: () => void }) {
  return (
    <Modal
      opened={rotated !== null}
      onClose={onClose}
      title={rotated === null ? '' : `Rotate ${rotated.name || rotated.hint}`}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={false}
    >
      {rotated !== null && <Rotate rotated={rotated} onClose={onClose} />}
    </Modal>
  );
}

function Rotate({ rotated, onClose }: { rotated: KeyJson; onClose: () => void }) {
  const [made, setMade] = useState<NewKeyJson | null>(null);
  const [oldValidFor, setOldValidFor] = useState<Grace>('24h');
  const change = useChange<NewKeyJson>();
  if (made !== null) return <MadeKey made={made} onClose={onClose} />;
  const rotate = () =>
    change.mutate(
      {
        method: 'POST',
        path: `/keys/${rotated.id}/rotate`,
        body: { oldValidFor } satisfies RotateKeyBody,
      },
      { onSuccess: setMade },
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rotate();
      }}
    >
      <Stack>
        <Text size="sm">
          Rotating creates a new key with the same name and owner. You’ll see it once, in the next step.
        </Text>
        <Select
          label="Revoke the old key"
          description="Both keys work until then."
          data={graces}
          allowDeselect={false}
          value={oldValidFor}
          onChange={(value) => setOldValidFor(value as Grace)}
        />
        {change.isError && <Failure error={change.error} title="Key not rotated" />}
        <FormActions submitLabel="Rotate key" loading={change.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}
