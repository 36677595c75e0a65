import { type Command, type Input, UsageError } from "../../../config/command.ts";
import { onlyWord } from "../frame/command.ts";

/** `signalbox completion`: prints a script that completes commands, switches and first words. Returns the exit code. */
export function completion(input: Input, commands: readonly Command[]): number {
  const shell = onlyWord(input, "a shell", "signalbox completion bash");
  const script = scriptFor(shell, commands);
  if (script === undefined) throw new UsageError(`There are completions for ${Object.keys(SCRIPTS).join(", ")}, not "${shell}".`);
  process.stdout.write(script);
  return 0;
}

/** The script for a shell; undefined for one that there is none for. */
export function scriptFor(shell: string, commands: readonly Command[]): string | undefined {
  return SCRIPTS[shell]?.(commands);
}

const SCRIPTS: Readonly<Record<string, (commands: readonly Command[]) => string>> = { bash, zsh, fish };

const namesOf = (commands: readonly Command[]) => commands.map(({ name }) => name).join(" ");
const switchesOf = ({ switches }: Command) => [...switches.map(({ name }) => `--${name}`), "--help"].join(" ");

function bash(commands: readonly Command[]): string {
  const cases = commands.map((command) => {
    const { name, choices = [] } = command;
    return `    ${name}) words="${choices.join(" ")}"; switches="${switchesOf(command)}" ;;`;
  });
  return `# bash completion of signalbox
_signalbox() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words="" switches=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${namesOf(commands)} --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$switches" -- "$word"))
  elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _signalbox signalbox
`;
}

function zsh(commands: readonly Command[]): string {
  const described = commands.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`);
  const cases = commands.map((command) => {
    const { name, choices = [] } = command;
    return `    ${name}) choices=(${choices.join(" ")}); switches=(${switchesOf(command)}) ;;`;
  });
  return `#compdef signalbox
_signalbox() {
  local -a commands choices switches
  commands=(
${described.join("\n")}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$words[2]" in
${cases.join("\n")}
  esac
  if [[ "$PREFIX" == -* ]]; then compadd -- $switches
  elif (( CURRENT == 3 && $#choices )); then compadd -- $choices
  else _files; fi
}
if [ "$funcstack[1]" = "_signalbox" ]; then _signalbox "$@"; else compdef _signalbox signalbox; fi
`;
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap(({ name, summary, switches, choices = [] }) => [
    `complete -c signalbox -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'`,
    ...switches.map((each) => {
      const short = each.short === undefined ? "" : ` -s ${each.short}`;
      const value = each.value === undefined ? "" : " -r";
      return `complete -c signalbox -n '__fish_seen_subcommand_from ${name}' -l ${each.name}${short}${value} -d '${quoted(each.meaning.split("\n")[0]!)}'`;
    }),
    ...(choices.length === 0
      ? []
      : [`complete -c signalbox -n '__fish_seen_subcommand_from ${name}' -f -a '${choices.join(" ")}'`]),
  ]);
  return `# fish completion of signalbox\n${lines.join("\n")}\n`;
}

/** For a text in single quotes. */
const quoted = (text: string) => text.replaceAll("'", "");
