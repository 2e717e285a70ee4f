import { readFileSync } from 'node:fs'
import { ConfigError, type Logger } from '../../../src/index.ts'
import { type CliArguments, parseArguments, usage } from './args.ts'
import { errorLine, missingPackage } from './endings.ts'
import type { CommandLinePrompt } from './modes/prompt-input.ts'
import { Screen } from './terminal/screen.ts'

/** Exit code for invalid usage. */
const wrongUsage = 2

/**
 * Runs the `phi` command. Resolves with the exit code: 0 success, 1 failure, 2 invalid usage, 130 interrupted.
 *
 * Source: docs/reference/cli.md
 */
export async function main(words: readonly string[]): Promise<number> {
  let stop: (() => void) | undefined
  let lost: string | undefined
  const screen = new Screen({ out: process.stdout, err: process.stderr }, (stream, code) => {
    if (stream !== 'out') return
    // The reader closed the pipe, so stop silently.
    if (code !== 'EPIPE') lost = code
    stop?.()
  })
  const code = await guarded(words, screen, (how) => {
    stop = how
  })
  // Files report write errors after the write.
  await new Promise((resolve) => setImmediate(resolve))
  if (lost === undefined) return code
  screen.line(screen.paint.paint('red', `phi: Cannot write the response to standard output (${lost}).`))
  return code === 0 ? 1 : code
}

/** Runs the command and prints errors. */
async function guarded(words: readonly string[], screen: Screen, onOutputLost: (stop: () => void) => void): Promise<number> {
  try {
    const args = parseArguments(words)
    if (args.help === true || args.version === true) {
      screen.data(screen.paintData.plain(args.help === true ? usage : `${version()}\n`))
      return 0
    }
    return await follow(args, screen, onOutputLost)
  } catch (error) {
    screen.line(screen.paint.paint('red', `phi: ${errorLine(error)}`))
    return ConfigError.isInstance(error) ? wrongUsage : 1
  }
}

async function follow(args: CliArguments, screen: Screen, onOutputLost: (stop: () => void) => void): Promise<number> {
  if (args.command !== undefined) return subcommand(args, screen)
  const isTalk = args.print === undefined && args.json !== true && process.stdin.isTTY === true
  if (args.json === true && args.print === undefined && args.prompt === undefined && process.stdin.isTTY === true)
    throw new ConfigError('invalidOption', '--json needs a prompt: pass -p "…", or pipe input.')
  if (isTalk && (args.file !== undefined || args.image !== undefined))
    throw new ConfigError('invalidOption', '--file and --image need -p or piped input. At the prompt, attach a file with @report.pdf.')
  const { openAssistant } = await import('./assistant/assistant.ts')
  const asked = isTalk ? undefined : await promptFrom(args, screen)
  const choose = isTalk && screen.isLive ? (await import('./assistant/latest-sessions.ts')).chooseSession : undefined
  const assistant = await openAssistant(args, { isLive: screen.isLive, logger: loggerOn(screen), ...(choose !== undefined && { choose }) })
  onOutputLost(() => assistant.agent.abort())
  const shared = { assistant, screen }
  try {
    if (asked === undefined)
      return await (await import('./repl/repl.ts')).talk({
        ...shared,
        isDemo: args.demo === true,
        ...(args.prompt !== undefined && { first: args.prompt }),
      })
    const { inputOf } = await import('./modes/prompt-input.ts')
    const prompt = await inputOf(asked, process.cwd(), assistant.servers)
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

/** The SDK is an optional peer dependency, because few users need it. */
function missingSdk(error: unknown): never {
  if (!(error instanceof Error) || !/package '(?:@agentclientprotocol\/sdk|zod)'/.test(error.message)) throw error
  throw missingPackage('phi acp', ['@agentclientprotocol/sdk', 'zod'], error)
}

function missingMcp(error: unknown): never {
  if (!(error instanceof Error) || !/package '(?:@modelcontextprotocol\/sdk|zod)/.test(error.message)) throw error
  throw missingPackage('phi mcp', ['@modelcontextprotocol/sdk'], error)
}

/** Maximum characters of a warning. */
const longestWarning = 500

/** Creates a logger that prints warnings. Skips retries, because their events are already printed. */
function loggerOn(screen: Screen): Logger {
  return {
    warn: (event, fields) => {
      if (event === 'providerRetry') return
      screen.line(screen.paint.paint('yellow', `${event} ${JSON.stringify(fields).slice(0, longestWarning)}`))
    },
  }
}

/** Reads the prompt from `-p` and standard input. The demo has its own prompt. */
async function promptFrom(
  { prompt: positional, print = positional, demo, file = [], image = [] }: CliArguments,
  screen: Screen,
): Promise<CommandLinePrompt> {
  const { checkPictures, pipedInput, promptOf } = await import('./modes/prompt-input.ts')
  const piped = process.stdin.isTTY === true ? { text: '', isDamaged: false } : await pipedInput(process.stdin)
  if (piped.isDamaged)
    screen.line(screen.paint.paint('yellow', 'Standard input is not valid UTF-8; invalid bytes were replaced with \ufffd.'))
  checkPictures(image)
  if (promptOf(print, piped.text).trim() !== '') return { typed: print, piped: piped.text, paths: [...file, ...image] }
  if (demo === true) return { typed: (await import('./demo/demo-model.ts')).openingPrompt, piped: '', paths: [] }
  throw new ConfigError('invalidOption', 'The prompt is missing: standard input is empty. Pass phi -p "…", or run phi in a terminal.')
}

function version(): string {
  // The path differs between the built file and the sources.
  for (const place of ['../../package.json', '../../../package.json']) {
    try {
      const { name, version: number }: { name: string; version: string } = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8'))
      if (name === 'phi-core') return number
    } catch {
      // Try the next path.
    }
  }
  return 'unknown'
}
