import { ownOf } from '../../../src/contract/json.ts'
import { thinkingLevel } from '../../../src/contract/model/request-settings.ts'
import { meant } from '../../../src/contract/shape/nearest-name.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFlag, aText, kind, listOf, type OptionTable, oneOf, options as optionsOf } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { defaultPatience } from '../../../src/providers.ts'
import { type PermissionMode, permissionModes } from './permissions/permissions.ts'

/** The parsed command line. */
export interface CliArguments {
  /** The subcommand. Default: a conversation. */
  command?: Subcommand
  /** Filter for `phi models`. */
  filter?: string
  /** Port for `phi serve`. */
  port?: string
  /** Prompt for one-shot mode. */
  print?: string
  /** The first message in the conversation. Without a terminal, it works like `print`. */
  prompt?: string
  /** Attached files. */
  file?: readonly string[]
  /** Attached images. */
  image?: readonly string[]
  json?: boolean
  config?: string
  model?: string
  thinking?: string
  /** `NAME=VALUE` pairs for the runs' `context`. */
  context?: readonly string[]
  demo?: boolean
  /** The session to resume, or `true` for the last one. */
  resume?: string | true
  /** Approval mode. */
  mode?: PermissionMode
  yes?: boolean
  /** Whether to trust the agent file. */
  trust?: boolean
  /** Whether commands run in a sandbox. */
  sandbox?: boolean
  help?: boolean
  version?: boolean
}

/** Options for every command with an agent. */
const ofAgent = ['config', 'model', 'thinking', 'context', 'trust', 'sandbox'] as const

/** Options for `phi acp` and `phi mcp`. */
const ofServing = [...ofAgent, 'mode', 'yes'] as const

/** Options for `phi serve` and `phi open`. */
const ofPages = ['port', ...ofAgent] as const

/** Subcommands with their options. */
const subcommands = {
  models: ['filter'],
  doctor: ['sandbox'],
  serve: ofPages,
  open: [...ofPages, 'resume'],
  acp: ofServing,
  mcp: ofServing,
} as const satisfies Record<string, readonly (keyof CliArguments)[]>

export type Subcommand = keyof typeof subcommands

/** The kind of value that an option takes. */
type Takes = 'nothing' | 'text' | 'texts' | 'perhaps a text'

const takes: Readonly<Record<string, Takes>> = {
  '--print': 'text',
  '--file': 'texts',
  '--image': 'texts',
  '--json': 'nothing',
  '--config': 'text',
  '--model': 'text',
  '--thinking': 'text',
  '--context': 'texts',
  '--demo': 'nothing',
  '--resume': 'perhaps a text',
  '--port': 'text',
  '--mode': 'text',
  '--yes': 'nothing',
  '--trust': 'nothing',
  '--no-sandbox': 'nothing',
  '--help': 'nothing',
  '--version': 'nothing',
}

const short: Readonly<Record<string, string>> = {
  '-p': '--print',
  '-f': '--file',
  '-y': '--yes',
  '-h': '--help',
  '-V': '--version',
  '-m': '--model',
}

const { '--thinking': _levels, '--resume': _perhaps, '--mode': _modes, ...plain } = takes
const shapes = { text: aText, texts: listOf(aText), nothing: aFlag, 'perhaps a text': aFlag }
const table: OptionTable<Record<string, unknown>> = {
  ...Object.fromEntries(Object.entries(plain).map(([name, what]) => [name, shapes[what]])),
  '--thinking': thinkingLevel,
  '--mode': oneOf(...permissionModes),
  '--resume': kind('the id of a session', (value) => value === true || typeof value === 'string'),
}

const { firstByteTimeoutMs, idleTimeoutMs, progressTimeoutMs } = defaultPatience

export const usage = `phi: an agent in your terminal, with tools over this directory.

  phi                        open a prompt
  phi "…"                    open a prompt and send this text first; without a terminal like phi -p
  phi -p "…"                 print the response and exit
  git diff | phi -p "…"      the same, with standard input as context
  phi --demo                 try phi without a key
  phi models [TEXT]          list available models with context window and prices
  phi doctor                 check keys, sandbox and optional programs
  phi serve [--port N]       serve the agent of this directory as a local web app
  phi open [--resume ID]     the same, with the last session of this directory
  phi acp                    serve editors over the Agent Client Protocol
  phi mcp                    serve the agent of this directory as an MCP server

  -p, --print TEXT     send TEXT, print the response to standard output, and exit
  -f, --file FILE      attach a file: an image, a PDF, text …; repeatable
      --image FILE     attach an image; repeatable
      --json           print each event as a line of JSON (with -p, or piped input)
  -m, --model MODEL    provider/model, such as anthropic/claude-sonnet-4-6 or ollama/llama3.3; reads the key from the environment
      --thinking LEVEL ${thinkingLevel.words.join(', ')}
      --context N=V    pass a text to plugins as the context of runs; $VAR as V reads the environment; repeatable
      --config FILE    load an agent file: TOML, JSON or YAML
      --trust          trust the agent file without asking
      --resume [ID]    resume a session of this directory; without ID the last one
      --mode MODE      ${permissionModes.join(', ')}: approve changes and commands, commands only, or nothing
  -y, --yes            same as --mode all
      --no-sandbox     run commands without a sandbox, with all your permissions
      --demo           use a scripted model in a sample project
  -h, --help           show this help
  -V, --version        show the version

Default model: PHI_MODEL, else Anthropic, OpenAI or Google, depending on the key in the environment.
Timeouts: PHI_FIRST_BYTE_TIMEOUT_MS (${firstByteTimeoutMs}), PHI_IDLE_TIMEOUT_MS (${idleTimeoutMs}), PHI_PROGRESS_TIMEOUT_MS (${progressTimeoutMs}); ms, or none.
Sessions are stored in ~/.local/state/phi (change with PHI_HOME).
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
`

/** Parses a command line. Throws `ConfigError` `invalidOption` with the wrong word and a suggestion. */
export function parseArguments(words: readonly string[]): CliArguments {
  const [first = ''] = words
  const command = isSubcommand(first) ? first : undefined
  const [, word = ''] = words
  const filter = command === 'models' && !word.startsWith('-') && word !== '' ? word : undefined
  const { given, promptWords } = read(words.slice(command === undefined ? 0 : filter === undefined ? 1 : 2), command !== undefined)
  checkOptions(given, optionsOf(table))
  const found: Record<string, unknown> = {
    ...(command !== undefined && { command }),
    ...(filter !== undefined && { filter }),
    ...(promptWords.length > 0 && { prompt: promptOfWords(promptWords) }),
  }
  for (const [name, value] of Object.entries(given)) {
    if (name === '--no-sandbox') found.sandbox = false
    else found[name.slice(2)] = value
  }
  const parsed: CliArguments = found // every name was checked against the table
  checkTogether(parsed)
  checkSubcommand(parsed)
  return parsed
}

function isSubcommand(word: string): word is Subcommand {
  return Object.hasOwn(subcommands, word)
}

/** Rejects options that the subcommand does not support. Every subcommand supports `--help`. */
function checkSubcommand({ command, help: _help, ...others }: CliArguments): void {
  if (command === undefined) {
    if (others.port !== undefined) throw misuse('--port only works with phi serve and phi open.')
    return
  }
  const taken: readonly string[] = subcommands[command]
  const other = Object.keys(others).find((name) => !taken.includes(name))
  const { port } = others
  if (port !== undefined && !/^\d{1,5}$/.test(port)) throw misuse(`--port is ${JSON.stringify(port.slice(0, 20))}; it must be a number.`)
  if (other !== undefined) throw misuse(`phi ${command} takes no --${other === 'sandbox' ? 'no-sandbox' : other}.`)
}

/**
 * Joins the words without an option into a prompt. Rejects a first word that looks like a mistyped subcommand, to avoid spending tokens on
 * it.
 */
function promptOfWords(words: readonly string[]): string {
  const [first = ''] = words
  const refused = (advice: string) => misuse(`${JSON.stringify(first.slice(0, 60))} is not a command. ${advice}`)
  if (words.length === 1 && /^\S+\.(?:toml|json|ya?ml)$/.test(first)) throw refused('For an agent file: phi --config FILE.')
  const command = /\s/.test(first) ? undefined : meant(first, Object.keys(subcommands))
  if (command !== undefined) throw refused(`Did you mean phi ${command}?`)
  const prompt = words.join(' ')
  if (prompt.trim() === '') throw misuse('The prompt is empty. Pass text or omit the prompt.')
  return prompt
}

function read(words: readonly string[], isAfterCommand: boolean): { given: Record<string, unknown>; promptWords: string[] } {
  const given: Record<string, unknown> = {}
  const promptWords: string[] = []
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (!/^-./.test(word)) {
      if (isAfterCommand) throw misuse(`${JSON.stringify(word.slice(0, 60))} is not an option. To send a prompt: phi -p "…".`)
      promptWords.push(word)
      continue
    }
    const equals = word.startsWith('--') ? word.indexOf('=') : -1
    const written = equals === -1 ? word : word.slice(0, equals)
    const name = ownOf(short, written) ?? written
    const kind = Object.hasOwn(takes, name) ? takes[name] : 'perhaps a text'
    if (Object.hasOwn(given, name) && kind !== 'texts') throw misuse(`${name} is set twice. Pass it once.`)
    const next = words[at + 1]
    const before = given[name]
    if (equals !== -1) {
      if (kind === 'nothing' && Object.hasOwn(takes, name)) throw misuse(`${name} takes no value.`)
      given[name] = word.slice(equals + 1)
    } else if (kind === 'nothing') given[name] = true
    else if (next !== undefined && (kind === 'text' || kind === 'texts' || !next.startsWith('-'))) {
      given[name] = next
      at += 1
    } else if (kind === 'text' || kind === 'texts') throw misuse(`${name} needs a value.`)
    else given[name] = true
    if (given[name] === '') throw misuse(`${name} is empty. Pass a value, or omit the option.`)
    if (kind === 'texts') given[name] = [...(Array.isArray(before) ? before : []), given[name]]
  }
  return { given, promptWords }
}

function checkTogether({ demo, model, config, context, resume, print, prompt, thinking, trust, mode, yes }: CliArguments): void {
  const others = { '--context': context, '--model': model, '--config': config, '--resume': resume, '--thinking': thinking }
  const other = Object.entries(others).find(([, value]) => value !== undefined)
  if (demo === true && other !== undefined) throw misuse(`--demo has its own model and project. Remove ${other[0]}.`)
  if (demo === true && prompt !== undefined) throw misuse('--demo has its own prompt. Remove the prompt.')
  if (print !== undefined && prompt !== undefined) throw misuse('Two prompts were given, one with -p and one without. Pass only one.')
  if (trust === true && config === undefined) throw misuse('--trust needs --config FILE.')
  if (mode !== undefined && mode !== 'all' && yes === true) throw misuse(`--mode ${mode} and --yes contradict each other. Pass only one.`)
  if (print !== undefined && print.trim() === '') throw misuse('--print needs a prompt after it.')
}

function misuse(message: string): ConfigError {
  return new ConfigError('invalidOption', message)
}
