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

/** The pages that the sidebar and the palette offer. */
export const threadPages = [
  { to: '/', label: 'My threads', hint: 'Threads you started', Icon: IconMessages },
  {
    to: '/published',
    label: 'Published threads',
    hint: 'Threads that everyone in the organization can read',
    Icon: IconWorld,
  },
] as const;

/** `admin`: for admins only. `needsApi`: only if the public API is enabled. */
export const settingsPages = [
  { to: '/settings/keys', label: 'API keys', admin: false, needsApi: true, Icon: IconKey },
  { to: '/settings/applications', label: 'Applications', admin: true, needsApi: true, Icon: IconApps },
  { to: '/settings/members', label: 'Members', admin: true, needsApi: false, Icon: IconUsers },
  { to: '/settings/documents', label: 'Documents', admin: false, needsApi: false, Icon: IconFiles },
  {
    to: '/settings/unanswered',
    label: 'Unanswered questions',
    admin: true,
    needsApi: false,
    Icon: IconHelpCircle,
  },
  { to: '/settings/model', label: 'Model', admin: true, needsApi: false, Icon: IconRobot },
  { to: '/settings/usage', label: 'Usage', admin: false, needsApi: true, Icon: IconActivity },
  { to: '/settings/requests', label: 'Requests', admin: true, needsApi: true, Icon: IconListSearch },
  { to: '/settings/audit', label: 'Audit log', admin: true, needsApi: false, Icon: IconHistory },
] as const;

/** The settings that a person with this role may open. */
export function settingsPagesFor(role: 'admin' | 'member') {
  return settingsPages.filter((page) => role === 'admin' || !page.admin);
}
