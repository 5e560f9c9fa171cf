import { Group, Kbd, Modal, Stack, Switch, Table } from '@mantine/core';
import { closeOverlay } from './overlay.ts';
import { shortcuts, useSingleKeys } from './shortcuts.ts';

export default function KeyboardHelp({ opened }: { opened: boolean }) {
  const [singleKeys, setSingleKeys] = useSingleKeys();
  return (
    <Modal opened={opened} onClose={closeOverlay} title="Keyboard shortcuts">
      <Stack>
        <Table withRowBorders={false} verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Keys</Table.Th>
              <Table.Th>Action</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shortcuts.map(({ keys, action }) => (
              <Table.Tr key={action}>
                <Table.Td>
                  <Group gap={4} wrap="nowrap">
                    {keys.map((key) => (
                      <Kbd key={key} style={{ whiteSpace: 'nowrap' }}>
                        {key}
                      </Kbd>
                    ))}
                  </Group>
                </Table.Td>
                <Table.Td>{action}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Switch
          label="Single-key shortcuts"
          description="The /, N and ? shortcuts. Turn them off if you use speech input, which can trigger them by accident."
          checked={singleKeys}
          onChange={(event) => setSingleKeys(event.currentTarget.checked)}
        />
      </Stack>
    </Modal>
  );
}
