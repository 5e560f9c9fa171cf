import {
  IconActivity,
  IconApps,
  IconFiles,
  IconHelpCircle,
  IconHistory,
  IconKey,
  IconListSearch,
  IconMessages,
  IconRobot,
  IconUsers,
  IconWorld,
} from '@tabler/icons-react';

/** Where one can go: the sidebar and the palette offer the same. */
export const threadPlaces = [
  { to: '/', label: 'My threads', hint: 'Threads you started', Icon: IconMessages },
  {
    to: '/published',
    label: 'Published',
    hint: 'Threads that everyone in the organization can read',
    Icon: IconWorld,
  },
] as const;

export const settingPlaces = [
  { to: '/settings/keys', label: 'API keys', admin: false, Icon: IconKey },
  { to: '/settings/applications', label: 'Applications', admin: true, Icon: IconApps },
  { to: '/settings/members', label: 'Members', admin: true, Icon: IconUsers },
  { to: '/settings/documents', label: 'Documents', admin: false, Icon: IconFiles },
  { to: '/settings/unanswered', label: 'Unanswered', admin: true, Icon: IconHelpCircle },
  { to: '/settings/model', label: 'Model', admin: true, Icon: IconRobot },
  { to: '/settings/usage', label: 'Usage', admin: false, Icon: IconActivity },
  { to: '/settings/requests', label: 'Requests', admin: true, Icon: IconListSearch },
  { to: '/settings/audit', label: 'Audit log', admin: true, Icon: IconHistory },
] as const;

/** Those that a person of this role may open. */
export function settingsFor(role: 'admin' | 'member') {
  return settingPlaces.filter((place) => role === 'admin' || !place.admin);
}
