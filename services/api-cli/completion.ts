import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh'] as const;
export type Shell = (typeof SHELLS)[number];

/** zsh runs the function of bash. */
const ZSH_PRELUDE = 'autoload -U +X compinit bashcompinit && compinit && bashcompinit\n';

const flagsOf = (command: Command): string => command.options.map(({ long }) => long).join(' ');

/** Names of commands first, then the flags of a command, and the values of a flag that has a closed list of them. */
export const completionScript = (program: Command, shell: Shell): string => {
  const namesOf = (command: Command): readonly string[] => [command.name(), ...command.aliases()];
  const cases = program.commands.map((command) => {
    const line = (flag: string, words: string): string =>
      `      ${namesOf(command)
        .map((name) => `${name}:${flag}`)
        .join(' | ')}) words="${words}" ;;`;
    const values = command.options.flatMap(({ long, argChoices }) =>
      argChoices && long ? [line(long, argChoices.join(' '))] : [],
    );
    return [...values, line('*', `${flagsOf(command)} --help`)].join('\n');
  });
  return `${shell === 'zsh' ? ZSH_PRELUDE : ''}_api() {
  local command= word words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) command=$word; break ;; esac
  done
  if [ -z "$command" ]; then
    words="${flagsOf(program)} --help ${program.commands.flatMap(namesOf).join(' ')}"
  else
    case $command:\${COMP_WORDS[COMP_CWORD-1]} in
${cases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _api api`;
};
