import { parsedWords, UsageError, wholeNumber } from '../parsed-words.ts'
import { slashHelp } from './slash-commands.ts'

export const outputs = ['text', 'json', 'stream-json'] as const

export interface ChatArguments {
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly tools: readonly string[] | undefined
  readonly maxSteps: number | undefined
  readonly cwd: string | undefined
  /** A key or the beginning of one; empty: the latest of the folder; absent: a new chat. */
  readonly resume: string | undefined
  readonly plan: boolean
  /** Tools whose calls need no yes. */
  readonly allow: readonly string[]
  readonly verbose: boolean
  /** Serves the inspector of each chat. */
  readonly inspect: boolean
  readonly help: boolean
}

export interface RunArguments extends ChatArguments {
  /** `-`: what is piped in; absent: the same, where something is. */
  readonly prompt: string | undefined
  readonly output: (typeof outputs)[number]
}

const optionsHelp = `  --provider NAME     anthropic, openai, moonshot, ollama, or one of your own
  --model NAME        use this model of the provider, or PROVIDER/NAME
  --tools LIST        give it these tools: names and categories, such as
                      file,git (default: all)
  --max-steps N       end a turn after N model calls
  --cwd FOLDER        work in this folder (default: this one)
  --resume [KEY]      continue the chat whose key is KEY or begins so; without
                      KEY choose one of this folder (with -p: the latest)
  --plan              begin in plan mode: the agent reads, and changes nothing
                      until you approve its plan
  --allow LIST        let these tools run without asking
  --verbose           show what the model thinks, too`

export const chatHelp = `Talk to an agent that reads, edits and runs things in your project, and asks
before it does harm.

  entia [chat]          talk to it, in this folder
  entia --resume        continue where you stopped
  entia run PROMPT      give it one prompt; it asks nothing (= entia -p PROMPT)
  entia sessions        list, show and remove stored chats
  entia config          check the configuration, or show where it lies
  entia skills          list, install, remove and test skills
  entia mcp             list the MCP servers of your configuration, sign in
  entia serve           offer the tools to MCP clients
  entia matrix          answer in Matrix rooms
  entia ask             ask a lead and its researchers about a folder

  entia sim FILE        simulate a story under many seeds
  entia replay FILE     replay a recording
  entia worlds          look at the worlds in a store
  entia inspect FOLDER  see in the browser what agents did
  entia worker FILE     work for a fleet; entia workers and entia queue show it

entia COMMAND --help says more.

Options:

${optionsHelp}
  --inspect           serve a page that shows the chat, and print its link
  --help, --version

While you chat:

${slashHelp()
  .map((line) => `  ${line}`)
  .join('\n')}

Ctrl-C cancels the turn, Esc stops its step, Esc twice goes back to your last
message, Ctrl-D leaves. A line typed while the agent works reaches it at its
next step. Shift-Enter, or a backslash at the end of a line, continues it.
@ names a file, !COMMAND runs a command for you, Ctrl-V pastes a picture, Ctrl-R
searches what you typed before.
`

export const runHelp = `Give an agent one prompt, and print its reply. It asks nothing: a call that
needs your yes is declined, unless --allow names its tool.

  entia run PROMPT
  entia -p PROMPT                        the same
  git diff | entia -p "Review this"      add what is piped in to the prompt
  entia -p - < prompt.txt                take what is piped in as the prompt

Options:

${optionsHelp}
  --output FORMAT     print text: the reply; json: one object with the reply,
                      usage and cost; stream-json: one object a line as it
                      happens
  --help, --version

With run, write --resume=KEY. The reply goes to stdout, progress to stderr.
Exit codes: 0 done, 1 failed, 2 wrong arguments or configuration, 3 stopped
(steps, a declined call, budget), 130 cancelled.
`

const chatOptions = {
  provider: { type: 'string' },
  model: { type: 'string' },
  tools: { type: 'string', multiple: true },
  'max-steps': { type: 'string' },
  cwd: { type: 'string' },
  resume: { type: 'string' },
  plan: { type: 'boolean' },
  allow: { type: 'string', multiple: true },
  verbose: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** @throws UsageError */
export function chatArguments(words: readonly string[]): ChatArguments {
  const { values, positionals } = parsedWords(
    withResume(words, () => true),
    { ...chatOptions, inspect: { type: 'boolean' } },
  )
  if (positionals.length > 0) {
    const example = JSON.stringify(positionals.join(' '))
    throw new UsageError(`entia chat takes no prompt. Type it in the chat, or run entia -p ${example}.`)
  }
  return chatValues(values)
}

/** Of `entia run PROMPT` and `entia -p PROMPT`. @throws UsageError */
export function runArguments(words: readonly string[]): RunArguments {
  const { values, positionals } = parsedWords(withResume(words, hasPrompt(words) ? () => true : isKeyLike), {
    ...chatOptions,
    print: { type: 'string', short: 'p' },
    output: { type: 'string' },
  })
  const { print, output = 'text' } = values
  if (print !== undefined && positionals.length > 0) {
    throw new UsageError(`-p has a prompt already, and there is more: ${positionals.join(' ')}. Put it in quotes.`)
  }
  const format = outputs.find((each) => each === output)
  if (format === undefined) throw new UsageError(`--output must be ${outputs.join(', ')}, got ${output}.`)
  const prompt = print ?? (positionals.length > 0 ? positionals.join(' ') : undefined)
  if (prompt?.trim() === '') throw new UsageError('The prompt must not be empty.')
  return { ...chatValues(values), prompt, output: format }
}

interface ChatValues {
  readonly provider?: string
  readonly model?: string
  readonly tools?: string[]
  readonly 'max-steps'?: string
  readonly cwd?: string
  readonly resume?: string
  readonly plan?: boolean
  readonly allow?: string[]
  readonly verbose?: boolean
  readonly inspect?: boolean
  readonly help?: boolean
}

function chatValues(values: ChatValues): ChatArguments {
  const { provider, model, cwd, resume, plan = false, verbose = false, inspect = false, help = false } = values
  for (const [name, value] of Object.entries({ provider, model, cwd })) {
    if (value?.trim() === '') throw new UsageError(`--${name} must not be empty.`)
  }
  return {
    provider,
    model,
    tools: values.tools && namesIn(values.tools),
    maxSteps: wholeNumber('--max-steps', values['max-steps'], 1),
    cwd,
    resume,
    plan,
    allow: namesIn(values.allow ?? []),
    verbose,
    inspect,
    help,
  }
}

/** What stands in lists with commas. */
export function namesIn(lists: readonly string[]): string[] {
  return lists.flatMap((list) => list.split(',').map((name) => name.trim())).filter((name) => name !== '')
}

/** Is the prompt that of `-p`, so that no other word is one? */
function hasPrompt(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end === -1 ? undefined : end).some((word) => /^(?:-p|--print(?:=|$))/.test(word))
}

/** A key, such as `20261123-160000-abcd`, or so much of one that no prompt begins so. */
function isKeyLike(word: string): boolean {
  return /^\d{8}(?:-\d{0,6}(?:-\w{0,4})?)?$/.test(word)
}

/** `--resume` may stand alone; the word behind it is its key, where no prompt can stand there. */
function withResume(words: readonly string[], isKey: (word: string) => boolean): string[] {
  const given: string[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string
    if (word === '--') return [...given, ...words.slice(index)]
    const next = words[index + 1]
    if (word !== '--resume') given.push(word)
    else if (next !== undefined && !next.startsWith('-') && isKey(next)) {
      given.push(`--resume=${next}`)
      index++
    } else given.push('--resume=')
  }
  return given
}
