import { readFileSync } from 'node:fs'
import { ConfigError, type Logger, type PromptInput } from '../../../src/index.ts'
import { type CliArguments, parseArguments, usage } from './args.ts'
import { errorLine, missingPackage } from './endings.ts'
import { Screen } from './terminal/screen.ts'

/** What is wrong about the command line itself. */
const wrongUsage = 2

/**
 * The command `phi`: an agent in a terminal. Resolves with the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
 *
 * Source: docs/reference/cli.md
 */
export async function main(words: readonly string[]): Promise<number> {
  let stop: (() => void) | undefined
  let lost: string | undefined
  const screen = new Screen({ out: process.stdout, err: process.stderr }, (stream, code) => {
    if (stream !== 'out') return
    // Whoever read the answers has seen enough.
    if (code !== 'EPIPE') lost = code
    stop?.()
  })
  const code = await guarded(words, screen, (how) => {
    stop = how
  })
  // A file tells what is wrong with it after the write.
  await new Promise((resolve) => setImmediate(resolve))
  if (lost === undefined) return code
  screen.line(screen.paint.paint('red', `phi: The answer is lost: standard output cannot be written (${lost}).`))
  return code === 0 ? 1 : code
}

/** What `main` does, with failures told. */
async function guarded(words: readonly string[], screen: Screen, onGone: (stop: () => void) => void): Promise<number> {
  try {
    const args = parseArguments(words)
    if (args.help === true || args.version === true) {
      screen.data(screen.paintData.plain(args.help === true ? usage : `${version()}\n`))
      return 0
    }
    return await follow(args, screen, onGone)
  } catch (error) {
    screen.line(screen.paint.paint('red', `phi: ${errorLine(error)}`))
    return ConfigError.isInstance(error) ? wrongUsage : 1
  }
}

async function follow(args: CliArguments, screen: Screen, onGone: (stop: () => void) => void): Promise<number> {
  if (args.command !== undefined) return subcommand(args, screen)
  const isTalk = args.print === undefined && args.json !== true && process.stdin.isTTY === true
  if (args.json === true && args.print === undefined && args.prompt === undefined && process.stdin.isTTY === true)
    throw new ConfigError('invalidOption', '--json needs something to ask: -p "…", or piped input.')
  if (isTalk && (args.file !== undefined || args.image !== undefined))
    throw new ConfigError('invalidOption', '--file and --image go with -p, or with piped input. At the prompt, name a file as @report.pdf.')
  const { openAssistant } = await import('./assistant/assistant.ts')
  const prompt = isTalk ? '' : await promptFrom(args, screen)
  const choose = isTalk && screen.isLive ? (await import('./assistant/latest-sessions.ts')).chooseSession : undefined
  const assistant = await openAssistant(args, { isLive: screen.isLive, logger: loggerOn(screen), ...(choose !== undefined && { choose }) })
  onGone(() => assistant.agent.abort())
  const shared = { assistant, screen }
  try {
    if (isTalk)
      return await (await import('./repl/repl.ts')).talk({
        ...shared,
        isDemo: args.demo === true,
        ...(args.prompt !== undefined && { first: args.prompt }),
      })
    return await (await import('./modes/print.ts')).printAnswer({ ...shared, prompt, isJson: args.json === true })
  } finally {
    await assistant.close()
  }
}

async function subcommand(args: CliArguments, screen: Screen): Promise<number> {
  if (args.command === 'models') return (await import('./models/known-models.ts')).listModels(args.filter, screen)
  if (args.command === 'doctor') return (await import('./doctor/doctor.ts')).doctor(args, screen, version())
  if (args.command === 'serve' || args.command === 'open')
    return (await import('./serve/serve-agent.ts').catch(missingHono)).runServer(args, screen, loggerOn(screen))
  const served = { args, logger: loggerOn(screen), version: version() }
  if (args.command === 'mcp') return (await import('./mcp/serve-as-mcp.ts').catch(missingMcp)).serveAsMcp(served)
  const { serveAcp } = await import('./acp/serve-acp.ts').catch(missingSdk)
  return serveAcp(served)
}

function missingHono(error: unknown): never {
  if (!(error instanceof Error) || !/package 'hono'/.test(error.message)) throw error
  throw missingPackage('phi serve', ['hono'], error)
}

/** The SDK is for who has such an editor, so the package does not bring it. */
function missingSdk(error: unknown): never {
  if (!(error instanceof Error) || !/package '(?:@agentclientprotocol\/sdk|zod)'/.test(error.message)) throw error
  throw missingPackage('phi acp', ['@agentclientprotocol/sdk', 'zod'], error)
}

function missingMcp(error: unknown): never {
  if (!(error instanceof Error) || !/package '(?:@modelcontextprotocol\/sdk|zod)/.test(error.message)) throw error
  throw missingPackage('phi mcp', ['@modelcontextprotocol/sdk'], error)
}

/** Characters. */
const longestWarning = 500

/** Tells the person what the SDK would otherwise keep to itself. Retries are told already: they are events too. */
function loggerOn(screen: Screen): Logger {
  return {
    warn: (event, fields) => {
      if (event === 'providerRetry') return
      screen.line(screen.paint.paint('yellow', `${event} ${JSON.stringify(fields).slice(0, longestWarning)}`))
    },
  }
}

/** What is asked: the text of `-p` with what is piped in, or that alone. The demo knows its own question. */
async function promptFrom({ prompt: said, print = said, demo, file = [], image = [] }: CliArguments, screen: Screen): Promise<PromptInput> {
  const { pipedInput, promptOf } = await import('./modes/prompt-input.ts')
  const piped = process.stdin.isTTY === true ? { text: '', isDamaged: false } : await pipedInput(process.stdin)
  if (piped.isDamaged) screen.line(screen.paint.paint('yellow', 'Standard input is not UTF-8; what could not be read stands as \ufffd.'))
  const prompt = promptOf(print, piped.text)
  if (prompt.trim() !== '') {
    const { checkPictures, withFiles } = await import('./modes/prompt-input.ts')
    checkPictures(image)
    // What was piped in names no files.
    return withFiles(prompt, process.cwd(), { paths: [...file, ...image], said: print ?? '' })
  }
  if (demo === true) return (await import('./demo/demo-model.ts')).openingPrompt
  throw new ConfigError(
    'invalidOption',
    'There is nothing to ask: standard input is empty. Say phi -p "…", or open a prompt in a terminal.',
  )
}

function version(): string {
  // Beside the built file, and beside the sources.
  for (const place of ['../../package.json', '../../../package.json']) {
    try {
      const { name, version: number }: { name: string; version: string } = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8'))
      if (name === 'phi-core') return number
    } catch {
      // The other one, then.
    }
  }
  return 'unknown'
}
