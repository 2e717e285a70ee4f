import type { Logger } from '../../../../src/index.ts'
import type { CliArguments } from '../args.ts'
import { openAssistant } from '../assistant/assistant.ts'
import { codeOf, stopSignals } from '../modes/stop-signals.ts'
import type { Screen } from '../terminal/screen.ts'
import { serveAgent } from './serve-agent.ts'

/** `phi serve`: serves the agent of this directory, with a page, until it is stopped. Resolves with the exit code. */
export async function runServer(args: CliArguments, screen: Screen, logger: Logger): Promise<number> {
  const assistant = await openAssistant(args, { isLive: false, logger })
  try {
    for (const note of assistant.notes) screen.say('yellow', note)
    const served = await serveAgent(assistant, { port: Number(args.port ?? 0), logger })
    // The one time that the token is shown.
    screen.data(screen.paintData.plain(`${served.link()}\n`))
    screen.say('dim', 'Open it in a browser on this machine. Whoever has the link may do what you may; Ctrl-C ends it.')
    const code = await new Promise<number>((resolve) => {
      for (const signal of stopSignals) process.once(signal, () => resolve(codeOf[signal]))
    })
    await served.close()
    return code
  } finally {
    await assistant.close()
  }
}
