import { ConfigError, type Logger } from '../../../../src/index.ts'
import type { CliArguments } from '../args.ts'
import { type Assistant, openAssistant } from '../assistant/assistant.ts'
import { codeOf, stopSignals } from '../modes/stop-signals.ts'
import type { Screen } from '../terminal/screen.ts'
import { serveAgent } from './serve-agent.ts'

/** `phi serve`: serves the agent of this directory, with a page, until it is stopped; `phi open` begins in its last session. Resolves with the exit code. */
export async function runServer(args: CliArguments, screen: Screen, logger: Logger): Promise<number> {
  const isOpening = args.command === 'open'
  const assistant = await openAssistant(isOpening ? { resume: true, ...args } : args, { isLive: false, logger })
  try {
    if (isOpening) assertNowhereElse(assistant)
    for (const note of assistant.notes) screen.say('yellow', note)
    assistant.served = await serveAgent(assistant, { port: Number(args.port ?? 0), logger })
    if (isOpening) await assistant.served.share(assistant.agent)
    // The one time that the token is shown.
    screen.data(screen.paintData.plain(`${assistant.served.link(isOpening ? assistant.agent.sessionId : undefined)}\n`))
    screen.say('dim', 'Open it in a browser on this machine. Everybody with the link may do what you may. Ctrl-C ends it.')
    return await new Promise<number>((resolve) => {
      for (const signal of stopSignals) process.once(signal, () => resolve(codeOf[signal]))
    })
  } finally {
    await assistant.close()
  }
}

/** Where a phi talks in the session, that one can hand it over with both going on; here it would be taken away from it. */
function assertNowhereElse({ agent, others }: Assistant): void {
  if (others.length === 0) return
  const where = `process${others.length === 1 ? '' : 'es'} ${others.join(', ')}`
  throw new ConfigError(
    'invalidOption',
    `Session ${agent.sessionId} is open in another phi, ${where}. Say /open there: the page and that terminal then go on together.`,
  )
}
