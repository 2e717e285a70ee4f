import { ConfigError } from '../../../../src/index.ts'
import type { Command } from './command.ts'

/** `/open`: this session in a page, which goes on with it. */
export const open: Command = {
  argument: '',
  help: 'go on in a page on this machine, with this session',
  isAnytime: false,
  async run({ assistant, screen }) {
    if (assistant.agent.messages.length === 0)
      throw new ConfigError('invalidOption', 'There is nothing to hand over yet. Say something first.')
    assistant.served ??= await (await import('../serve/serve-agent.ts')).serveAgent(assistant, { port: 0, logger: silent })
    screen.line(screen.paint.plain(`  ${assistant.served.link(assistant.agent.sessionId)}`))
    screen.say(
      'dim',
      '  Open it in a browser on this machine; whoever has the link may do what you may. What is said there is not said here: /resume takes the session back.',
    )
  },
}

const silent = { warn: () => undefined }
