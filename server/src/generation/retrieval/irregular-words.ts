/** Forms that no rule about endings brings together: each line is a word and its other forms. */
const families = `
begin began begun
bind bound
break broke broken
bring brought
build built
buy bought
catch caught
child children
choose chose chosen
cost costs
deal dealt
draw drew drawn
drive drove driven
eat ate eaten
fall fell fallen
find found
fly flew flown
forbid forbade forbidden
forget forgot forgotten
freeze froze frozen
grow grew grown
hear heard
hold held
lend lent
lose lost
man men
meet met
mouse mice
pay paid
person persons
ride rode ridden
ring rang rung
rise rose risen
run ran
sell sold
send sent
show shown
speak spoke spoken
spend spent
steal stole stolen
swim swam swum
teach taught
tell told
throw threw thrown
tooth teeth
understand understood
wear wore worn
win won
withdraw withdrew withdrawn
woman women
write wrote written`;

/** From an irregular form to the word it belongs to. */
export const wordOfIrregular: ReadonlyMap<string, string> = new Map(
  families
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [word = '', ...forms] = line.split(' ');
      return forms.map((form) => [form, word] as const);
    }),
);

const numberWords =
  `zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty`.split(/\s+/);
const tens = 'thirty forty fifty sixty seventy eighty ninety hundred'.split(' ');

/** 'thirty' → '30'. Not 'one', which seldom counts, nor 'second', which is also a time. */
export const digitsOfWord: ReadonlyMap<string, string> = new Map([
  ...numberWords.map((word, at) => [word, String(at === 0 ? 0 : at + 1)] as const),
  ...tens.map((word, at) => [word, String((at + 3) * 10)] as const),
]);
