export const requestFilters = ['trace', 'status', 'operation', 'credential', 'from', 'to'] as const;
export type RequestSearch = Partial<Record<(typeof requestFilters)[number], string>>;

export const auditFilters = ['trace', 'actor', 'action', 'from', 'to'] as const;
export type AuditSearch = Partial<Record<(typeof auditFilters)[number], string>>;

/** Reads only these filters, as text, and only those that are set. */
export function readFilters<Name extends string>(names: readonly Name[]) {
  return (search: Record<string, unknown>): Partial<Record<Name, string>> => {
    const set = names.filter((name) => search[name] !== undefined && search[name] !== '');
    return Object.fromEntries(set.map((name) => [name, String(search[name])])) as Partial<
      Record<Name, string>
    >;
  };
}
