import { toTerm } from './terms.ts';

/** Words with nearly the same meaning in questions about rules, products and services. Commas separate the groups. */
const families = `allow permit authorise,answer reply respond response react,bicycle bike,boss manager supervisor,
breach incident leak violation,broken defective faulty damaged,buy purchase order,cancel terminate cancellation,
contest appeal dispute objection disagree challenge,cost price fee charge rate pricing expensive,
course training workshop class,delete remove erase deletion,delivery shipping ship deliver,
employee staff worker colleague,fix repair mend,hotel accommodation,ill sick unwell illness,kilometre mile mileage,
laptop computer notebook machine device,largest biggest maximum highest,name called,netherlands dutch holland,
parcel package,phone telephone mobile smartphone,refund reimburse repay money,salary pay wage,
smallest minimum lowest,start begin,founded establish start,people person participant attendee,
store keep retain retention hold save storage,sweater pullover jumper garment,train rail railway,
trip travel journey,uk british britain england,uptime availability available,vacation holiday leave,
weekend saturday sunday,argument parameter option flag,ban block suspend,bug hole vulnerability defect,
change modify alter edit,check verify validate,choose select pick,clear clean purge,connect connection,
create generate,delay wait timeout pause throttle,directory folder,disable deactivate turn switch,
duplicate copy clone,enable activate turn switch,environment env,error fail failure,execute run launch,
exit quit stop halt,forbid prohibit disallow,function method,hide suppress silence,limit maximum max cap,
login signin,merge combine,omit skip ignore exclude,outdated legacy,overwrite override,publish release,
report notify contact,rule policy,secret credential password,show display print,uninstall remove,variable var,
version release,abort cancel interrupt,add append insert,app application program,async asynchronous,attempt retry,
build compile bundle,call invoke,configure configuration config setting setup,count number,deprecated obsolete,
detect notice recognise,develop development dev,download fetch,expire expiry ttl,fast quick speed performance,
happen occur,kind type,log output,memory ram,minimum min least,parallel concurrent concurrency simultaneous,
pattern glob,prevent avoid,priority precedence,recursive nested,repeat again,safe secure security,size length,
sync synchronous,update upgrade`;

const wordings = new Map<string, readonly string[]>();
for (const group of families.split(/,\n?/)) {
  const terms = group.split(' ').map(toTerm);
  for (const term of terms) wordings.set(term, [...new Set([...listWordings(term), ...terms])]);
}

/** The term, and others that mean nearly the same. */
export function listWordings(term: string): readonly string[] {
  return wordings.get(term) ?? [term];
}

/** Letters that are omitted or confused most often. */
const vowels = 'aeiouy';

/** Terms that a misspelled word may mean: one typing error away, with the same first letter. */
export function respellings(word: string): string[] {
  if (!/^[a-z]{5,20}$/.test(word)) return [];
  const spellings = Array.from(word, (previous, at) => {
    const [before, letter, after] = [word.slice(0, at + 1), word.charAt(at + 1), word.slice(at + 2)];
    const others = [previous, letter, ...vowels].flatMap((other) => [other, other + letter]);
    const swapped = after.charAt(0) + letter + after.slice(1);
    return [before + swapped, ...others.map((other) => before + other + after), before + after];
  });
  return [...new Set(spellings.flat().map(toTerm))].filter((term) => term !== toTerm(word));
}
