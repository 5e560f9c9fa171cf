/** Why single sign-on led back here. */
export function problemText(problem: string): string {
  return problems[problem] ?? 'Signing in did not work. Try again.';
}

const problems: Record<string, string | undefined> = {
  cancelled: 'You did not finish signing in with your provider.',
  unknown: 'Nobody here has this address. Ask an admin of your organization for an invitation.',
  expired: 'That took too long. Try again.',
  unreachable: 'Your provider cannot be reached. Try again, or use your password.',
};
