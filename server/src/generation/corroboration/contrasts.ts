import { tokensOf } from '../retrieval/terms.ts';

/** Words of which the one denies the other where it stands in its place. */
const lines = `
minimum, maximum
always, never
increase, decrease, reduce
include, exclude, without
allow, forbid, prohibit, ban
permit, forbid, prohibit, ban
open, close
free, paid, cost, fee
allow, block
permit, block
may, block
working, calendar
business, calendar
mandatory, optional
required, optional
approve, reject, decline
accept, reject, refuse
add, remove
inside, outside
internal, external
public, private
hot, cold
warm, cold
full, partial
monthly, yearly, annually, weekly, daily, quarterly
monday, tuesday, wednesday, thursday, friday, saturday, sunday
january, february, march, april, june, july, august, september, october, november, december
morning, afternoon, evening, night
weekday, weekend
spring, summer, autumn, winter
north, south, east, west
buyer, seller
employer, employee
customer, supplier
adult, child
domestic, international
online, offline
automatic, manual
automatically, manually
temporary, permanent
enable, disable
encrypted, unencrypted
gross, net
credit, debit
refundable, nonrefundable
possible, impossible
written, oral, verbal
email, telephone, post
rise, fall
higher, lower
larger, smaller
longer, shorter`;

const contrasts = new Map<string, ReadonlySet<string>>();
for (const line of lines.trim().split('\n')) {
  const terms = line.split(', ').map((word) => tokensOf(word)[0]!);
  for (const term of terms) {
    const others = terms.filter((other) => other !== term);
    contrasts.set(term, new Set([...(contrasts.get(term) ?? []), ...others]));
  }
}

/** The terms that deny this one. */
export function contrastsOf(term: string): ReadonlySet<string> | undefined {
  return contrasts.get(term);
}
