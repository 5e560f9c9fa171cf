import { termOf } from './terms.ts';

/** Words with nearly the same meaning in questions about rules, products and services. Commas separate the groups. */
const families = `boss manager supervisor,allow permit authorise,answer reply respond response react,
buy purchase order,contest appeal dispute objection disagree challenge,cost price fee charge rate pricing expensive,
course training workshop class,delete remove erase deletion,delivery shipping ship deliver,
employee staff worker colleague,kilometre mile mileage,laptop computer notebook machine device,
largest biggest maximum highest,name called,netherlands dutch holland,parcel package,phone telephone mobile smartphone,
refund reimburse repay money,salary pay wage,start begin,found establish start,people person participant attendee,
store keep retain retention hold save storage,sweater pullover jumper garment,trip travel journey,
uk british britain england,uptime availability available,vacation holiday leave,argument parameter option flag,
bug hole vulnerability defect,change modify alter edit,check verify validate,create generate,
delay wait timeout pause throttle,directory folder,disable deactivate turn switch,enable activate turn switch,
environment env,error fail failure,execute run launch,exit quit stop halt,function method,limit maximum max cap,
omit skip ignore exclude,publish release,report notify contact,rule policy,secret credential password,
show display print,uninstall remove,variable var,version release,add append insert,app application program,
build compile bundle,call invoke,configure configuration config setting setup,count number,detect notice recognise,
download fetch,kind type,log output,parallel concurrent concurrency simultaneous,safe secure security,size length`;

const wordings = new Map<string, readonly string[]>();
for (const group of families.split(/,\n?/)) {
  const terms = group.split(' ').map(termOf);
  for (const term of terms) wordings.set(term, [...new Set([...wordingsOf(term), ...terms])]);
}

/** The term, and others that mean nearly the same. */
export function wordingsOf(term: string): readonly string[] {
  return wordings.get(term) ?? [term];
}

/** Letters that are omitted or confused most often. */
const vowels = 'aeiouy';

/** Terms that a misspelled word may mean: one typing error away, with the same first letter. */
export function respellings(word: string): string[] {
  if (!/^[a-z]{5,20}$/.test(word)) return [];
  const terms = new Set<string>();
  for (let at = 1; at <= word.length; at++) {
    const [before, letter, after] = [word.slice(0, at), word.charAt(at), word.slice(at + 1)];
    for (const missing of new Set([word.charAt(at - 1), letter, ...vowels])) {
      terms.add(termOf(before + missing + letter + after));
    }
    if (letter === '') continue;
    terms.add(termOf(before + after));
    terms.add(termOf(before + after.charAt(0) + letter + after.slice(1)));
    for (const other of vowels) terms.add(termOf(before + other + after));
  }
  terms.delete(termOf(word));
  return [...terms];
}
