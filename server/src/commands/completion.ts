import type { Command } from 'commander';
import type { CommandLine, ProcessCommand } from './command.ts';
import { buildProgram, childNamed, type Sections } from './command-line.ts';

/**
 * A command for each shell, which prints a script, and the command that the scripts call when somebody presses the tab key.
 * `loadSections` loads the commands that start with a word.
 */
export function completionCommands(loadSections: (word?: string) => Promise<Sections<CommandLine>>) {
  const scripts = Object.entries(shells).map(
    ([shell, { script, installed }]): ProcessCommand => ({
      name: `completion ${shell}`,
      summary: `Print the completion script for ${shell}`,
      examples: [installed],
      async runProcess() {
        process.stdout.write(script);
        return 0;
      },
    }),
  );
  const offer: ProcessCommand = {
    name: 'completion offer',
    arguments: { '<LINE>': 'A command line up to the cursor, in quotes' },
    summary: 'Print completions for a command line. The completion scripts call it.',
    examples: ['completion offer "skein org c"'],
    async runProcess({ positionals: [line = ''] }) {
      const words = line.split(/\s+/).slice(1);
      // The first word can be a prefix of another: 'doc' of 'doctor'.
      const section = words.length > 1 ? words[0] : '';
      const program = buildProgram(await loadSections(section), async () => {});
      for (const { word, description } of candidatesFor(program, words))
        process.stdout.write(`${word}\t${description}\n`);
      return 0;
    },
  };
  return { commands: [...scripts, offer] };
}

interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** The last word may be unfinished, or empty. The shell leaves out candidates that do not start with it. */
function candidatesFor(program: Command, words: readonly string[]): readonly Candidate[] {
  const [before, current = ''] = [words.slice(0, -1), words.at(-1)];
  const command = before.reduce((parent, word) => childNamed(parent, word) ?? parent, program);
  const options = command.createHelp().visibleOptions(command);
  const valued = options.find(({ long, required }) => required && long === before.at(-1));
  if (valued !== undefined) return (valued.argChoices ?? []).map((word) => ({ word, description: '' }));
  const flags = options.map(({ long, description }) => ({ word: long as string, description }));
  if (current.startsWith('-')) return flags;
  if (command.commands.length > 0)
    return command.commands.map((one) => ({ word: one.name(), description: one.summary() }));
  // If nothing is offered, the shell completes file names.
  return command.registeredArguments.some((one) => one.name() === 'FILE') ? [] : flags;
}

// The name of the command is as it was typed, perhaps with a tilde.
const bash = `_skein() {
  local offered
  offered=$("\${1/#\\~\\//$HOME/}" completion offer "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null | cut -f1)
  COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _skein skein
`;

const zsh = `#compdef skein
_skein() {
  local offered
  offered=$(\${~words[1]} completion offer "\${(j: :)words[1,CURRENT]}" 2>/dev/null | tr '\\t' ':')
  local -a candidates=("\${(@f)offered}")
  if [[ -n $offered ]]; then _describe skein candidates; else _files; fi
}
compdef _skein skein
# The first call, if zsh loads this file as the function.
if [[ $funcstack[1] == _skein ]]; then _skein "$@"; fi
`;

const fish = `function __skein_complete
  set -l offered (skein completion offer (commandline -cp) 2>/dev/null)
  if test -n "$offered"
    printf '%s\\n' $offered
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c skein -f -a '(__skein_complete)'
`;

const shells: Readonly<Record<string, { readonly script: string; readonly installed: string }>> = {
  bash: { script: bash, installed: 'completion bash > ~/.local/share/bash-completion/completions/skein' },
  zsh: { script: zsh, installed: 'completion zsh > "$fpath[1]/_skein"' },
  fish: { script: fish, installed: 'completion fish > ~/.config/fish/completions/skein.fish' },
};
