import { ownOf } from '../../../src/contract/json.ts'
import { thinkingLevel } from '../../../src/contract/model/request-settings.ts'
import { meant } from '../../../src/contract/shape/nearest-name.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFlag, aText, kind, listOf, type OptionTable, oneOf, options as optionsOf } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { defaultPatience } from '../../../src/providers.ts'
import { type PermissionMode, permissionModes } from './permissions/permissions.ts'

/** What a command line says. */
export interface CliArguments {
  /** What is to be done in place of a conversation. */
  command?: Subcommand
  /** Which models are meant. */
  filter?: string
  /** Where `serve` listens. */
  port?: string
  /** Asked at once, instead of opening a prompt. */
  print?: string
  /** Said first at the prompt; where there is no terminal, asked as `print`. */
  prompt?: string
  /** Sent with what is asked. */
  file?: readonly string[]
  /** Pictures that are sent with it. */
  image?: readonly string[]
  json?: boolean
  config?: string
  model?: string
  thinking?: string
  demo?: boolean
  /** A session to go on with; `true` for the last one. */
  resume?: string | true
  /** Which calls are asked about. */
  mode?: PermissionMode
  yes?: boolean
  /** The agent file may do what it asks for. */
  trust?: boolean
  /** `false`: commands run without a sandbox. */
  sandbox?: boolean
  help?: boolean
  version?: boolean
}

/** What goes with serving the agent to another program. */
const ofServing = ['config', 'model', 'thinking', 'trust', 'sandbox', 'mode', 'yes'] as const

/** What goes with a page. */
const ofPages = ['port', 'config', 'model', 'thinking', 'trust', 'sandbox'] as const

/** What `phi` does beside talking, with the options that go with it. */
const subcommands = {
  models: ['filter'],
  doctor: ['sandbox'],
  serve: ofPages,
  open: [...ofPages, 'resume'],
  acp: ofServing,
  mcp: ofServing,
} as const satisfies Record<string, readonly (keyof CliArguments)[]>

export type Subcommand = keyof typeof subcommands

/** What an option takes after it. */
type Takes = 'nothing' | 'text' | 'texts' | 'perhaps a text'

const takes: Readonly<Record<string, Takes>> = {
  '--print': 'text',
  '--file': 'texts',
  '--image': 'texts',
  '--json': 'nothing',
  '--config': 'text',
  '--model': 'text',
  '--thinking': 'text',
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

  phi                        opens a prompt
  phi "…"                    opens one, and says this first; without a terminal as phi -p
  phi -p "…"                 asks, prints the answer, and ends
  git diff | phi -p "…"      with what is piped in as context
  phi --demo                 shows what it does, without a key
  phi models [TEXT]          lists the models that can be asked here, with window and prices
  phi doctor                 says what is there for phi, and what is not
  phi serve [--port N]       serves the agent of this directory with a page, on this machine
  phi open [--resume ID]     the same, in the last session of this directory
  phi acp                    serves an editor that speaks the Agent Client Protocol
  phi mcp                    serves the agent of this directory as a tool of MCP clients

  -p, --print TEXT     ask TEXT, print the answer on standard output, and end
  -f, --file FILE      send a file with it: a picture, a PDF, text …; again for more
      --image FILE     the same for a picture alone
      --json           every event as a line of JSON (with -p, or piped input)
  -m, --model MODEL    provider/model, such as anthropic/claude-sonnet-4-6 or ollama/llama3.3; the key is taken from the environment
      --thinking LEVEL ${thinkingLevel.words.join(', ')}
      --config FILE    an agent file: TOML, JSON or YAML
      --trust          let the agent file do what it wants to, without being asked once
      --resume [ID]    go on with a session of this directory; without ID the last one
      --mode MODE      ${permissionModes.join(', ')}: ask about each change and command, about commands alone, about none
  -y, --yes            as --mode all
      --no-sandbox     run commands without a sandbox, with all your rights
      --demo           a scripted model in a project of its own
  -h, --help           this
  -V, --version        the version

Without --model: PHI_MODEL, else Anthropic, OpenAI or Google by the key that is there.
Services are waited for: PHI_FIRST_BYTE_TIMEOUT_MS (${firstByteTimeoutMs}), PHI_IDLE_TIMEOUT_MS (${idleTimeoutMs}), PHI_PROGRESS_TIMEOUT_MS (${progressTimeoutMs}); ms, or none.
Sessions are kept in ~/.local/state/phi (PHI_HOME is another place).
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
`

/** Reads a command line. Throws `ConfigError` `invalidOption`, naming what is wrong and what was meant. */
export function parseArguments(words: readonly string[]): CliArguments {
  const [first = ''] = words
  const command = isSubcommand(first) ? first : undefined
  const [, word = ''] = words
  const filter = command === 'models' && !word.startsWith('-') && word !== '' ? word : undefined
  const { given, said } = read(words.slice(command === undefined ? 0 : filter === undefined ? 1 : 2), command !== undefined)
  checkOptions(given, optionsOf(table))
  const found: Record<string, unknown> = {
    ...(command !== undefined && { command }),
    ...(filter !== undefined && { filter }),
    ...(said.length > 0 && { prompt: promptOfWords(said) }),
  }
  for (const [name, value] of Object.entries(given)) {
    if (name === '--no-sandbox') found.sandbox = false
    else found[name.slice(2)] = value
  }
  const parsed: CliArguments = found // checked against the table, name by name
  checkTogether(parsed)
  checkSubcommand(parsed)
  return parsed
}

function isSubcommand(word: string): word is Subcommand {
  return Object.hasOwn(subcommands, word)
}

/** Help is there for each; what does not go with a command is no option of it. */
function checkSubcommand({ command, help: _help, ...others }: CliArguments): void {
  if (command === undefined) {
    if (others.port !== undefined) throw misuse('--port goes with phi serve and phi open.')
    return
  }
  const taken: readonly string[] = subcommands[command]
  const other = Object.keys(others).find((name) => !taken.includes(name))
  const { port } = others
  if (port !== undefined && !/^\d{1,5}$/.test(port)) throw misuse(`--port is ${JSON.stringify(port.slice(0, 20))}; it must be a number.`)
  if (other !== undefined) throw misuse(`phi ${command} takes no --${other === 'sandbox' ? 'no-sandbox' : other}.`)
}

/** What is said without an option. A first word that is nearly a command is a typo: nobody is to pay for it. */
function promptOfWords(said: readonly string[]): string {
  const [first = ''] = said
  const refused = (advice: string) => misuse(`${JSON.stringify(first.slice(0, 60))} is no command. ${advice}`)
  if (said.length === 1 && /^\S+\.(?:toml|json|ya?ml)$/.test(first)) throw refused('For an agent file: phi --config FILE.')
  const command = /\s/.test(first) ? undefined : meant(first, Object.keys(subcommands))
  if (command !== undefined) throw refused(`Did you mean phi ${command}?`)
  const prompt = said.join(' ')
  if (prompt.trim() === '') throw misuse('The prompt is empty. Say something, or leave it out.')
  return prompt
}

function read(words: readonly string[], isAfterCommand: boolean): { given: Record<string, unknown>; said: string[] } {
  const given: Record<string, unknown> = {}
  const said: string[] = []
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (!/^-./.test(word)) {
      if (isAfterCommand) throw misuse(`${JSON.stringify(word.slice(0, 60))} is no option. To ask at once: phi -p "…".`)
      said.push(word)
      continue
    }
    const equals = word.startsWith('--') ? word.indexOf('=') : -1
    const written = equals === -1 ? word : word.slice(0, equals)
    const name = ownOf(short, written) ?? written
    const kind = Object.hasOwn(takes, name) ? takes[name] : 'perhaps a text'
    if (Object.hasOwn(given, name) && kind !== 'texts') throw misuse(`${name} comes twice. Say it once.`)
    const next = words[at + 1]
    const before = given[name]
    if (equals !== -1) {
      if (kind === 'nothing' && Object.hasOwn(takes, name)) throw misuse(`${name} takes no value.`)
      given[name] = word.slice(equals + 1)
    } else if (kind === 'nothing') given[name] = true
    else if (next !== undefined && (kind === 'text' || kind === 'texts' || !next.startsWith('-'))) {
      given[name] = next
      at += 1
    } else if (kind === 'text' || kind === 'texts') throw misuse(`${name} needs a text after it.`)
    else given[name] = true
    if (given[name] === '') throw misuse(`${name} is empty. Say something, or leave it out.`)
    if (kind === 'texts') given[name] = [...(Array.isArray(before) ? before : []), given[name]]
  }
  return { given, said }
}

function checkTogether({ demo, model, config, resume, print, prompt, thinking, trust, mode, yes }: CliArguments): void {
  const others = { '--model': model, '--config': config, '--resume': resume, '--thinking': thinking }
  const other = Object.entries(others).find(([, value]) => value !== undefined)
  if (demo === true && other !== undefined) throw misuse(`--demo brings its own model and project; leave ${other[0]} out.`)
  if (demo === true && prompt !== undefined) throw misuse('--demo brings its own question; leave the prompt out.')
  if (print !== undefined && prompt !== undefined) throw misuse('There are two prompts: one after -p, and one without it. Say one of them.')
  if (trust === true && config === undefined) throw misuse('--trust is about an agent file; say --config FILE as well.')
  if (mode !== undefined && mode !== 'all' && yes === true) throw misuse(`--mode ${mode} asks, and --yes does not. Say one of them.`)
  if (print !== undefined && print.trim() === '') throw misuse('--print has nothing to ask. Say something after it.')
}

function misuse(message: string): ConfigError {
  return new ConfigError('invalidOption', message)
}
