import type { Command } from 'commander';
import type { CommandLine, ProcessCommand } from './command.ts';
import { buildProgram, pathOf, type Sections } from './command-line.ts';

/**
 * What can follow the words on a command line. The key is a command (`org create`), a command and `-` for its options, or a
 * command and an option for its values (`org create --api`).
 */
type Candidates = ReadonlyMap<string, readonly Candidate[]>;

interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** Commands that print scripts with all names in them, so that pressing the tab key starts no process. */
export function completionCommands(loadSections: () => Promise<Sections<CommandLine>>) {
  const commands = Object.entries(shells).map(
    ([shell, { script, installed }]): ProcessCommand => ({
      name: `completion ${shell}`,
      summary: `Print the completion script for ${shell}`,
      examples: [installed],
      async runProcess() {
        const candidates = candidatesOf(buildProgram(await loadSections(), async () => {}));
        process.stdout.write(script(candidates));
        return 0;
      },
    }),
  );
  return { commands };
}

function candidatesOf(program: Command): Candidates {
  const candidates = new Map<string, readonly Candidate[]>();
  const visit = (command: Command) => {
    const path = pathOf(command);
    const options = command.createHelp().visibleOptions(command);
    const flags = options.map(({ long, description }) => ({ word: long as string, description }));
    const children = command.commands.map((one) => ({ word: one.name(), description: one.summary() }));
    // A file name is completed by the shell unless a dash has been typed.
    const takesFile = command.registeredArguments.some((one) => one.name() === 'FILE');
    candidates.set(path, children.length > 0 ? children : takesFile ? [] : flags);
    candidates.set(`${path} -`, flags);
    for (const { long, argChoices, required } of options) {
      const values = (argChoices ?? []).map((word) => ({ word, description: '' }));
      if (required) candidates.set(`${path} ${long}`, values);
    }
    command.commands.forEach(visit);
  };
  visit(program);
  return candidates;
}

/** For bash and zsh: `_skein_offer CURRENT PREVIOUS WORD…` prints one candidate per line. */
function offer(candidates: Candidates, line: (candidate: Candidate) => string): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const cases = [...candidates].map(([key, list]) => {
    return `    ${quote(key)}) printf '%s\\n' ${list.map((one) => quote(line(one))).join(' ')} ;;`;
  });
  return `_skein_candidates() {
  case "$1" in
${cases.join('\n')}
    *) return 1 ;;
  esac
}
_skein_offer() {
  local current="$1" previous="$2" key='' word
  shift 2
  for word in "$@"; do
    if [[ $word != -* ]] && _skein_candidates "\${key:+$key }$word" >/dev/null; then key="\${key:+$key }$word"; fi
  done
  if [[ $previous == -* ]] && _skein_candidates "$key $previous"; then :
  elif [[ $current == -* ]]; then _skein_candidates "$key -"
  else _skein_candidates "$key"; fi
}`;
}

function bash(candidates: Candidates): string {
  return `${offer(candidates, ({ word }) => word)}
_skein() {
  local current="\${COMP_WORDS[COMP_CWORD]}" candidates
  candidates=$(_skein_offer "$current" "\${COMP_WORDS[COMP_CWORD-1]}" "\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _skein skein
`;
}

function zsh(candidates: Candidates): string {
  return `#compdef skein
${offer(candidates, ({ word, description }) => `${word}:${description}`)}
_skein() {
  local found
  found=$(_skein_offer "\${words[CURRENT]}" "\${words[CURRENT-1]}" "\${(@)words[2,CURRENT-1]}")
  local -a candidates=("\${(@f)found}")
  if [[ -n $found ]]; then _describe skein candidates; else _files; fi
}
compdef _skein skein
# The first call, if zsh loads this file as the function.
if [[ $funcstack[1] == _skein ]]; then _skein "$@"; fi
`;
}

function fish(candidates: Candidates): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = [...candidates].map(([key, list]) => {
    const words = list.map(({ word, description }) => quote(`${word}\t${description}`)).join(' ');
    return `    case ${quote(key)}\n      printf '%s\\n' ${words}`;
  });
  return `function __skein_candidates
  switch $argv[1]
${lines.join('\n')}
    case '*'
      return 1
  end
end
function __skein_complete
  set -l current (commandline -ct)
  set -l typed (commandline -opc)
  set -l key ''
  for word in $typed[2..-1]
    set -l longer (string trim -- "$key $word")
    if not string match -q -- '-*' $word; and __skein_candidates $longer >/dev/null
      set key $longer
    end
  end
  if string match -q -- '-*' $typed[-1]; and __skein_candidates "$key $typed[-1]"
    return
  end
  if string match -q -- '-*' $current
    __skein_candidates "$key -"
    return
  end
  set -l found (__skein_candidates $key)
  if test -n "$found"
    printf '%s\\n' $found
  else
    __fish_complete_path $current
  end
end
complete -c skein -f -a '(__skein_complete)'
`;
}

const shells: Readonly<Record<string, { script: (candidates: Candidates) => string; installed: string }>> = {
  bash: { script: bash, installed: 'completion bash > ~/.local/share/bash-completion/completions/skein' },
  zsh: { script: zsh, installed: 'completion zsh > "$fpath[1]/_skein"' },
  fish: { script: fish, installed: 'completion fish > ~/.config/fish/completions/skein.fish' },
};
